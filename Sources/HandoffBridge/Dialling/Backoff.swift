// SPDX-License-Identifier: LGPL-2.1-or-later

/// How long to wait before each further attempt: twice as long each time up to a limit, less up to a half at
/// random, so that two devices do not keep in step. The limit is low for about a minute, since what has just
/// gone may be about to return.
struct Backoff {
    /// Before the first repetition, at most.
    static let first = Duration.milliseconds(300)
    /// Before any of the first ``manyAtFirst``, at most.
    static let longestAtFirst = Duration.milliseconds(2400)
    /// How many repetitions the low limit is for.
    static let manyAtFirst = 32
    /// Before any, at most.
    static let longest = Duration.seconds(60)

    private var attempts = 0
    private var limit = Self.first

    /// The wait before the next attempt.
    mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let wait = limit
        attempts += 1
        limit = min(limit * 2, attempts < Self.manyAtFirst ? Self.longestAtFirst : Self.longest)
        return wait * Double.random(in: 0.5...1, using: &generator)
    }

    /// Begins anew, after success.
    mutating func reset() { self = Backoff() }
}

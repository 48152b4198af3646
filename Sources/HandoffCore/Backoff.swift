// SPDX-License-Identifier: LGPL-2.1-or-later

/// How long to wait before each further attempt: twice as long each time, up to a limit, and shortened at
/// random by up to a half, so that two devices do not keep in step. The limit is low for about a minute,
/// since what has just gone may be about to return.
package struct Backoff {
    /// The longest wait before the first repetition.
    package static let first = Duration.milliseconds(300)
    /// The longest wait before any of the first ``manyAtFirst`` repetitions.
    package static let longestAtFirst = Duration.milliseconds(2400)
    /// How many repetitions the low limit is for.
    package static let manyAtFirst = 32
    /// The longest wait before any repetition.
    package static let longest = Duration.seconds(60)

    private var attempts = 0
    private var limit = Self.first

    /// A first attempt, which has failed.
    package init() {}

    /// The wait before the next attempt.
    package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let wait = limit
        attempts += 1
        limit = min(limit * 2, attempts < Self.manyAtFirst ? Self.longestAtFirst : Self.longest)
        return wait * Double.random(in: 0.5...1, using: &generator)
    }

    /// Begins anew, after success.
    package mutating func reset() { self = Backoff() }
}

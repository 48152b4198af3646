// SPDX-License-Identifier: LGPL-2.1-or-later

/// How long to wait before each further attempt: twice as long each time up to a limit, less up to a half at
/// random, so that two devices do not keep in step.
struct Backoff {
    /// Before the first repetition, at most.
    static let first = Duration.milliseconds(300)
    /// Before any, at most.
    static let longest = Duration.seconds(60)

    private var attempts = 0

    /// The wait before the next attempt.
    mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let wait = min(Self.first * (1 << min(attempts, 10)), Self.longest)
        attempts += 1
        return wait * Double.random(in: 0.5...1, using: &generator)
    }

    /// Begins anew, after success.
    mutating func reset() { attempts = 0 }
}

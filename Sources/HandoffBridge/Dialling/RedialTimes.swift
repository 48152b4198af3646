// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// When a peer that does not answer is dialled again: for a while after there was a reason to hope for it, after ever longer
/// waits, and then no longer by itself.
struct RedialTimes {
    /// For how long after a reason.
    static let perseverance = Duration.seconds(600)

    private var backoff = Backoff()
    /// When there was a reason last; nil if the peer has had a link since.
    private var reason: Instant?

    /// There is a reason to hope for an answer: the network has changed, the peer was there just now, or the user waits.
    mutating func hoped(at now: Instant) { reason = now }

    /// There is a link.
    mutating func linked() { reason = nil }

    /// How long to wait before the next attempt; nil if that is made only for another reason, or with those to others.
    mutating func wait(at now: Instant, using generator: inout some RandomNumberGenerator) -> Duration? {
        let since = reason ?? now
        reason = since
        guard since.duration(to: now) < Self.perseverance else { return nil }
        return backoff.next(using: &generator)
    }

    /// The next wait is short again.
    mutating func reset() { backoff.reset() }
}

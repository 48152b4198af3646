// SPDX-License-Identifier: LGPL-2.1-or-later

/// How often this device takes part in pairing without its user having asked for it (protocol.md, "Pairing"): each time
/// is one guess for whoever stands between, so there are few.
package struct PairingBudget: Sendable {
    /// How many times there are at most.
    package static let maximum = 3
    /// How long it takes until there is one more.
    package static let refill = Duration.seconds(600)

    private var left = maximum
    /// When the budget was last refilled, or when the first attempt was taken from a full one.
    private var since = Instant(microseconds: 0)

    /// A full budget.
    package init() {}

    /// Takes one attempt from the budget; false if none is left.
    package mutating func take(at now: Instant) -> Bool {
        while left < Self.maximum, since.advanced(by: Self.refill) <= now {
            left += 1
            since = since.advanced(by: Self.refill)
        }
        guard left > 0 else { return false }
        if left == Self.maximum { since = now }
        left -= 1
        return true
    }

    /// An attempt has succeeded, which gives back one.
    package mutating func succeeded() { left = min(left + 1, Self.maximum) }
}

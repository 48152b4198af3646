// SPDX-License-Identifier: LGPL-2.1-or-later

/// How often this device takes part in pairing without its user having asked for it (protocol.md, "Pairing"): each time
/// is one guess for whoever stands between, so there are few.
public struct PairingBudget: Sendable {
    /// How many times there are at most.
    public static let maximum = 3
    /// How long it takes until there is one more.
    public static let refill = Duration.seconds(600)

    private var left = maximum
    /// When the budget was last refilled, or when the first attempt was taken from a full one.
    private var since = Instant(microseconds: 0)

    /// A full budget.
    public init() {}

    /// Takes one attempt from the budget; false if none is left.
    public mutating func take(at now: Instant) -> Bool {
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
    public mutating func succeeded() { left = min(left + 1, Self.maximum) }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// Gathers changes that come in bursts: they take effect once it has been quiet for a while, or once the
/// first of them was long ago.
///
/// Times are microseconds of a monotonic clock.
struct Settling {
    /// How long it has to be quiet.
    let quiet: Int64
    /// How long the first change waits at most.
    let ceiling: Int64
    private var first: Int64?
    /// When ``settle(at:)`` is to be called; nil if nothing has changed.
    private(set) var deadline: Int64?

    init(quiet: Int64, ceiling: Int64) {
        (self.quiet, self.ceiling) = (quiet, ceiling)
    }

    /// Something has changed.
    mutating func changed(at now: Int64) {
        let first = first ?? now
        self.first = first
        deadline = min(now + quiet, first + ceiling)
    }

    /// Time has passed.
    /// - Returns: whether the changes are to take effect now.
    mutating func settle(at now: Int64) -> Bool {
        guard let deadline, deadline <= now else { return false }
        (first, self.deadline) = (nil, nil)
        return true
    }
}

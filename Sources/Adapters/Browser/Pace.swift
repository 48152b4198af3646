// SPDX-License-Identifier: LGPL-2.1-or-later

/// Lets through the latest of what comes, and not too often: at once after a pause, and otherwise when the pause is over.
///
/// All times are microseconds of one clock.
struct Pace<Element: Equatable> {
    /// How long the pause between two is.
    let pause: Int64
    private var last: Int64?
    private var waiting: Element?

    /// A pace with this pause.
    init(pause: Int64) { self.pause = pause }

    /// `element` has come.
    /// - Returns: it if it may pass now; otherwise it waits until ``deadline``, in place of what waited before.
    mutating func came(_ element: Element, at now: Int64) -> Element? {
        waiting = element
        return due(at: now)
    }

    /// When there is something that may pass; nil while nothing waits.
    var deadline: Int64? { waiting == nil ? nil : (last ?? 0) + pause }

    /// What may pass now, if anything waits.
    mutating func due(at now: Int64) -> Element? {
        guard let element = waiting else { return nil }
        if let last, now < last + pause { return nil }
        (last, waiting) = (now, nil)
        return element
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// Something that is looked at anew when it may have changed: at once, but never twice at a time, and at most once in
/// ``interval``, however often that is said. Between looks nothing runs.
@MainLoop
package final class Refresher {
    /// The least time from the beginning of one look to that of the next.
    static let interval: Int64 = 100_000

    private let body: @MainLoop () async -> Void
    private lazy var timer = DeadlineTimer { [weak self] in self?.begin() }
    private var isWanted = false
    private var isLooking = false
    private var last = -interval

    /// Looks with `body`.
    package init(_ body: @escaping @MainLoop () async -> Void) { self.body = body }

    /// It may have changed.
    package func refresh() {
        guard !isWanted else { return }
        isWanted = true
        schedule()
    }

    /// What was wanted is not wanted any more.
    package func cancel() {
        isWanted = false
        timer.set(nil)
    }

    private func schedule() {
        if isWanted, !isLooking { timer.set(max(MainLoop.now, last + Self.interval)) }
    }

    private func begin() {
        (isWanted, isLooking, last) = (false, true, MainLoop.now)
        MainLoop.start { [weak self] in
            await self?.body()
            self?.isLooking = false
            self?.schedule()
        }
    }
}

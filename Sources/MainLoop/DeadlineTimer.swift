// SPDX-License-Identifier: LGPL-2.1-or-later

/// A timer for a state machine that says itself when it wants to be called next. It runs only while there is
/// a deadline, so an idle process has no timer.
@MainLoop
package final class DeadlineTimer {
    private var source: LoopSource?
    private var armed: Int64?
    private let body: @MainLoop () -> Void

    /// Calls `body` whenever the deadline that was set last has come.
    package init(_ body: @escaping @MainLoop () -> Void) { self.body = body }

    /// Sets the deadline, in microseconds of ``MainLoop/now``, in place of the former one; nil for none.
    package func set(_ deadline: Int64?) {
        guard deadline != armed else { return }
        source?.cancel()
        source = nil
        armed = deadline
        guard let deadline else { return }
        let (wait, overflow) = deadline.subtractingReportingOverflow(MainLoop.now)
        source = .timer(after: overflow ? .seconds(3600) : .microseconds(max(0, wait))) { [weak self] in
            self?.fire()
        }
    }

    private func fire() {
        source = nil
        armed = nil
        body()
    }
}

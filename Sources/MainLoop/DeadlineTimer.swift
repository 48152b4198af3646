// SPDX-License-Identifier: LGPL-2.1-or-later

/// A timer for a state machine that says itself when it wants to be called next. It runs only while there is
/// a deadline, so an idle process has no timer.
@MainLoop
package final class DeadlineTimer {
    private var source: LoopSource?
    /// When the body is to be called; nil for never.
    private(set) var deadline: Int64?
    private let clock: LoopClock
    private let body: @MainLoop () -> Void

    /// Calls `body` whenever the deadline that was set last has come by `clock`.
    package init(by clock: LoopClock = .machine, _ body: @escaping @MainLoop () -> Void) {
        (self.clock, self.body) = (clock, body)
    }

    /// Sets the deadline, in microseconds of ``LoopClock/now``, in place of the former one; nil for none.
    package func set(_ deadline: Int64?) {
        guard deadline != self.deadline else { return }
        self.deadline = deadline
        clock.changed(self)
        arm()
    }

    /// The clock goes otherwise than before.
    func arm() {
        source?.cancel()
        source = nil
        guard let deadline, !clock.isStopped else { return }
        let (wait, overflow) = deadline.subtractingReportingOverflow(clock.now)
        source = .timer(after: overflow ? .seconds(3600) : .microseconds(max(0, wait))) { [weak self] in
            self?.fire()
        }
    }

    /// The deadline has come.
    func fire() {
        source = nil
        deadline = nil
        clock.changed(self)
        body()
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// The monotonic clock and the wall clock, with timers by them. A test has one of its own, and moves it by hand.
@MainLoop
package final class LoopClock {
    /// The clocks of the machine.
    package nonisolated static let machine = LoopClock()

    /// What the clocks of the machine said when these were stopped.
    private var stopped: (monotonic: Int64, wall: Int64)?
    /// How much later it is here than it is, in microseconds.
    private var lead: Int64 = 0
    private var timers: [ObjectIdentifier: WeakTimer] = [:]

    private struct WeakTimer {
        weak var timer: DeadlineTimer?
    }

    /// Clocks that go as those of the machine do, until they are stopped or moved.
    package nonisolated init() {}

    /// What the monotonic clock says, in microseconds of ``MainLoop/now``.
    package var now: Int64 { (stopped?.monotonic ?? MainLoop.now) + lead }
    /// What the wall clock says, in microseconds since the Unix epoch.
    package var wall: Int64 { (stopped?.wall ?? MainLoop.wallClock) + lead }
    /// Whether they only move by hand.
    var isStopped: Bool { stopped != nil }

    /// From now on they only move by hand.
    package func stop() {
        guard stopped == nil else { return }
        stopped = (MainLoop.now, MainLoop.wallClock)
        for timer in timers.values { timer.timer?.arm() }
    }

    /// Moves them on to `time` of the monotonic clock, or to the first deadline that comes before, and does what is due.
    /// - Returns: whether they have come as far as `time`.
    package func advance(to time: Int64) -> Bool {
        let due = timers.values.compactMap { $0.timer }.filter { $0.deadline ?? .max <= time }
        let first = due.min { ($0.deadline ?? .max) < ($1.deadline ?? .max) }
        let next = first?.deadline ?? time
        if next > now { lead += next - now }
        for timer in timers.values { timer.timer?.arm() }
        first?.fire()
        return first == nil
    }

    /// `timer` goes by these clocks, and has a deadline, or has none any more.
    func changed(_ timer: DeadlineTimer) {
        // Those of the machine are moved by nobody.
        if self !== Self.machine {
            timers[ObjectIdentifier(timer)] = timer.deadline == nil ? nil : WeakTimer(timer: timer)
        }
    }
}

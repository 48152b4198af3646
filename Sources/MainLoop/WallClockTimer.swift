// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// A timer for a time of the wall clock. It also fires when the clock is set or the machine wakes up, since
/// the time may have been skipped then (timerfd_create(2), `TFD_TIMER_CANCEL_ON_SET`).
@MainLoop
package final class WallClockTimer {
    private let body: @MainLoop () -> Void
    private var descriptor: Int32 = -1
    private var source: DescriptorSource?
    /// Replaces the timer while there is no descriptor left.
    private var substitute: LoopSource?

    /// How long, in microseconds, ``substitute`` waits at most before it looks at the clock.
    private static let longestWait: Int64 = 10_000_000

    /// Calls `body` whenever the time that was set last has come.
    package init(_ body: @escaping @MainLoop () -> Void) { self.body = body }

    isolated deinit { cancel() }

    /// Sets the time, in microseconds since the Unix epoch, in place of the former one.
    package func set(_ time: Int64) {
        cancel()
        descriptor = timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
        guard descriptor >= 0 else { return setWithoutDescriptor(time) }
        var value = itimerspec()
        // A value of 0 would switch the timer off.
        value.it_value = timespec(
            tv_sec: Int(max(0, time) / 1_000_000), tv_nsec: Int(max(1, max(0, time) % 1_000_000 * 1000)))
        guard
            timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET), &value, nil) == 0
        else { return cancel() }
        source = DescriptorSource(descriptor, .readable) { [weak self] _ in
            self?.cancel()
            self?.body()
        }
    }

    /// Looks again after a while, or when it is time: there may be a descriptor then.
    private func setWithoutDescriptor(_ time: Int64) {
        let left = max(0, time.subtractingReportingOverflow(MainLoop.wallClock).partialValue)
        substitute = .timer(after: .microseconds(min(left, Self.longestWait))) { [weak self] in
            guard let self else { return }
            if MainLoop.wallClock < time { return set(time) }
            cancel()
            body()
        }
    }

    /// Stops waiting for any time.
    package func cancel() {
        substitute = nil
        source = nil
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// A timer of the main loop for the main actor. `Task.sleep` would start libdispatch's pool, which wakes the process
/// every second from then on.
@MainLoop
final class LoopTimer {
    private var timer: DeadlineTimer?

    /// A timer that is not set.
    nonisolated init() {}

    /// Calls `body` on the main actor after `time` of `clock`.
    func set(after time: Duration, by clock: LoopClock, _ body: @escaping @MainActor @Sendable () -> Void) {
        timer = DeadlineTimer(by: clock) { Task { @MainActor in body() } }
        timer?.set(clock.now + Int64(time / .microseconds(1)))
    }

    /// Calls nothing any more.
    func cancel() { timer = nil }
}

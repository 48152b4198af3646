// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// A timer of the main loop for the main actor. `Task.sleep` would start libdispatch's pool, which wakes the process
/// every second from then on.
@MainLoop
final class LoopTimer {
    private var source: LoopSource?

    /// A timer that is not set.
    nonisolated init() {}

    /// Calls `body` on the main actor after `time`.
    func set(after time: Duration, _ body: @escaping @MainActor @Sendable () -> Void) {
        source = .timer(after: time) { Task { @MainActor in body() } }
    }

    /// Calls nothing any more.
    func cancel() { source = nil }
}

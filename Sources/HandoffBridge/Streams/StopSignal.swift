// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Tells threads that wait for a descriptor to stop. Once given, it stays.
final class StopSignal: Sendable {
    // GCancellable may be used by any thread ("g_cancellable_cancel").
    private let cancellable: ObjectReference<GCancellable>
    private let descriptor: Int32

    /// Nil without a descriptor left.
    init?() {
        guard let raw = g_cancellable_new() else { return nil }
        cancellable = ObjectReference(owning: raw)
        descriptor = g_cancellable_get_fd(raw)
        if descriptor < 0 { return nil }
    }

    deinit { g_cancellable_release_fd(cancellable.raw) }

    /// Gives the signal.
    func send() { g_cancellable_cancel(cancellable.raw) }

    /// Waits until `other` has any of `events`, an error, or has been hung up.
    /// - Returns: false if the signal was given.
    func wait(_ other: Int32, _ events: Int16) -> Bool {
        var entries = (
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other, events: events, revents: 0)
        )
        return withUnsafeMutablePointer(to: &entries) { pointer in
            pointer.withMemoryRebound(to: pollfd.self, capacity: 2) { entries in
                while poll(entries, 2, -1) < 0, errno == EINTR {}
                return entries[0].revents == 0
            }
        }
    }
}

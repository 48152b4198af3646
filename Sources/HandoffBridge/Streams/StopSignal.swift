// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Tells threads that wait for a descriptor to stop. Once given, the signal stays. Any thread may give it and
/// wait for it.
final class StopSignal: Sendable {
    // An eventfd(2): readable from the first write on.
    private let descriptor: Int32

    /// Nil if no descriptor is free.
    init?() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Gives the signal.
    func send() {
        var one: UInt64 = 1
        while write(descriptor, &one, MemoryLayout.size(ofValue: one)) < 0, errno == EINTR {}
    }

    /// Waits until `other` has any of `events`, an error, or has been hung up.
    /// - Returns: false if the signal was given.
    func wait(_ other: Int32, _ events: Int16) -> Bool {
        poll(other, events, -1)
    }

    /// Lets `milliseconds` pass.
    /// - Returns: false if the signal was given.
    func pause(_ milliseconds: Int32) -> Bool {
        // poll(2) does not wait for anything that is not a descriptor.
        poll(-1, 0, milliseconds)
    }

    private func poll(_ other: Int32, _ events: Int16, _ milliseconds: Int32) -> Bool {
        var entries = (
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other, events: events, revents: 0)
        )
        return withUnsafeMutablePointer(to: &entries) { pointer in
            pointer.withMemoryRebound(to: pollfd.self, capacity: 2) { entries in
                while Glibc.poll(entries, 2, milliseconds) < 0, errno == EINTR {}
                return entries[0].revents == 0
            }
        }
    }
}

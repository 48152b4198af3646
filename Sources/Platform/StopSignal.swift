// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Tells threads that wait for a descriptor to stop. Once given, the signal stays. Any thread may give it and
/// wait for it.
package final class StopSignal: Sendable {
    // An eventfd(2): readable from the first write on.
    private let descriptor: Int32

    /// Nil if no descriptor is free.
    package init?() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Gives the signal.
    package func send() {
        var one: UInt64 = 1
        while write(descriptor, &one, MemoryLayout.size(ofValue: one)) < 0, errno == EINTR {}
    }

    /// Waits until `other` has any of `events`, an error, or has been hung up.
    /// - Returns: false if the signal was given.
    package func wait(_ other: Int32, _ events: Int16) -> Bool {
        poll(other, events, -1) != nil
    }

    /// What ended a wait.
    package enum Ending: Sendable {
        /// What was waited for is there.
        case ready
        /// The time is up.
        case timedOut
        /// The signal was given.
        case stopped
    }

    /// Waits as ``wait(_:_:)`` does, for `time` at most.
    package func wait(_ other: Int32, _ events: Int16, atMost time: Duration) -> Ending {
        // A signal handler may interrupt poll(2) and so prolong this, but background threads run none.
        let isReady = poll(other, events, Int32(min(time / .milliseconds(1), Double(Int32.max))))
        return isReady == nil ? .stopped : isReady == true ? .ready : .timedOut
    }

    /// Lets `milliseconds` pass.
    /// - Returns: false if the signal was given.
    package func pause(_ milliseconds: Int32) -> Bool {
        // poll(2) does not wait for anything that is not a descriptor.
        poll(-1, 0, milliseconds) != nil
    }

    /// - Returns: whether the other descriptor is ready; nil if the signal was given.
    private func poll(_ other: Int32, _ events: Int16, _ milliseconds: Int32) -> Bool? {
        var entries = (
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other, events: events, revents: 0)
        )
        return withUnsafeMutablePointer(to: &entries) { pointer in
            pointer.withMemoryRebound(to: pollfd.self, capacity: 2) { entries in
                while Glibc.poll(entries, 2, milliseconds) < 0, errno == EINTR {}
                return entries[0].revents == 0 ? entries[1].revents != 0 : nil
            }
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffInterfaces
internal import Platform

/// The bridge's end of the socket pair whose other end an application has. The end is closed when it is
/// freed.
///
/// One byte that has been read already always stays in the queue of the socket. If the socket is closed in
/// that state, by whatever, the application reads `ECONNRESET`; only after ``settle()`` does it read an end
/// of file.
///
/// One thread may read, and another write.
final class ApplicationEnd: Sendable {
    /// The result of writing.
    enum Writing {
        /// Everything is written.
        case done
        /// The application does not read any more.
        case refused
        /// Writing was told to stop.
        case stopped
    }

    /// The number, for calls that borrow the descriptor.
    let descriptor: Int32
    /// Whether the stream breaks when the application closes its end and leaves something unread there, or reads no
    /// more of what comes. Otherwise that is the end of what it writes, like any other.
    private let breaksWhenLeft: Bool

    /// Takes over an end in whose queue is one byte that is no part of the stream.
    init(owning descriptor: consuming FileDescriptor, breaksWhenLeft: Bool = false) {
        self.descriptor = descriptor.take()
        self.breaksWhenLeft = breaksWhenLeft
        setPeekOffset(1)
    }

    deinit { close(descriptor) }

    private static let left = StreamFault(description: "it was closed here before its end")

    /// Another descriptor of the same socket; nil if no descriptor is free.
    func copy() -> FileDescriptor? {
        let number = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        return number < 0 ? nil : FileDescriptor(owning: number)
    }

    /// Sets where in the queue the next peek begins (socket(7), `SO_PEEK_OFF`).
    private func setPeekOffset(_ offset: Int32) {
        var offset = offset
        setsockopt(
            descriptor, SOL_SOCKET, SO_PEEK_OFF, &offset, socklen_t(MemoryLayout.size(ofValue: offset)))
    }

    /// Waits for bytes from the application and moves them to the start of `data`.
    ///
    /// The byte before `data` is overwritten too, with the used byte that comes out of the queue first.
    /// - Returns: the number of bytes; 0 when the application has ended its direction, or reading was
    ///   stopped.
    /// - Throws: what the system cannot do.
    func read(_ data: UnsafeMutableRawBufferPointer) throws(StreamFault) -> Int {
        guard let start = data.baseAddress else { return 0 }
        // Waits until there is more than the used byte. The byte that this gives is ignored: kernels before
        // 6.18 begin at the head of the queue after they have waited ("af_unix: Read sk_peek_offset() again
        // after sleeping").
        guard try receive(start, 1, Int32(MSG_PEEK)) == 1 else { return 0 }
        var queued: Int32 = 0
        guard ioctl(descriptor, UInt(FIONREAD), &queued) == 0, queued > 1 else { throw .system }
        // Takes all bytes but the last, which stays as the used one.
        let taken = try receive(start - 1, min(Int(queued) - 1, data.count), 0)
        guard taken > 0 else { throw .system }
        // After the bytes that were taken, the next peek begins here anyway, unless only one was taken.
        if taken == 1 { setPeekOffset(0) }
        guard try receive(start + taken - 1, 1, Int32(MSG_PEEK)) == 1 else { throw .system }
        return taken
    }

    /// Calls recv(2), again if a signal has interrupted it. If the application has gone and left bytes
    /// unread, that counts as its end too, unless it breaks the stream.
    private func receive(
        _ place: UnsafeMutableRawPointer, _ count: Int, _ flags: Int32
    ) throws(StreamFault) -> Int {
        while true {
            let result = recv(descriptor, place, count, flags)
            if result >= 0 { return result }
            if errno == ECONNRESET {
                if breaksWhenLeft { throw Self.left }
                return 0
            }
            if errno != EINTR { throw .system }
        }
    }

    /// Writes `bytes`, waiting for the application as long as `stop` is not signalled.
    /// - Throws: what the system cannot do.
    func write(_ bytes: UnsafeRawBufferPointer, unless stop: StopSignal) throws(StreamFault) -> Writing {
        var place = 0
        while place < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[place...])
            let count = send(
                descriptor, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            if count >= 0 {
                place += count
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                if !stop.wait(descriptor, Int16(POLLOUT)) { return .stopped }
            } else if errno == EPIPE || errno == ECONNRESET {
                if breaksWhenLeft { throw Self.left }
                return .refused
            } else if errno != EINTR {
                throw .system
            }
        }
        return .done
    }

    /// The application reads an end of file after what was written to it.
    func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The application cannot write any more (`EPIPE`), and ``read(_:)`` returns.
    func stopReading() { StreamSocket.preventWriting(to: descriptor) }

    /// Waits until the application has closed its end, or `stop` is signalled.
    /// - Returns: whether it has closed it.
    func waitUntilClosed(unless stop: StopSignal) -> Bool { stop.wait(descriptor, 0) }

    /// Whether the application has closed its own end.
    var isClosedThere: Bool {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLHUP) != 0
    }

    /// From now on, closing the socket is an end in order. The application cannot write any more; what it has
    /// written but nobody has read is thrown away.
    func settle() {
        stopReading()
        withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 1) { bytes in
            while recv(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
        }
    }
}

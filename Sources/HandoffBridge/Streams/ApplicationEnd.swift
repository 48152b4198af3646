// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffInterfaces
internal import Platform
internal import Synchronization

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

    /// Who has the other end, which decides what an end of file means.
    ///
    /// The kernel says only once that an end was left with something unread in it, and it may be the writer who is told
    /// (unix(7)); whoever reads then sees what looks like an orderly end. So a document's end counts only where no
    /// writer can have been told before.
    enum Holder {
        /// An application: whatever it closes is the end of what it writes, also if it leaves something unread.
        case application
        /// The broker here, which sends a document. Nothing is ever written to it.
        case documentSender
        /// The broker here, which receives a document. It acknowledges it by ending its direction, which counts only
        /// after the document's own end: nothing is written from then on.
        case documentReceiver
    }

    /// The number, for calls that borrow the descriptor.
    let descriptor: Int32
    private let holder: Holder
    /// Whether the other end has been told that nothing more comes.
    private let hasEnded = Atomic<Bool>(false)

    /// Takes over an end in whose queue is one byte that is no part of the stream.
    init(owning descriptor: consuming FileDescriptor, heldBy holder: Holder = .application) {
        self.descriptor = descriptor.take()
        self.holder = holder
        setPeekOffset(1)
    }

    deinit { close(descriptor) }

    private static let left = StreamFault(description: "it was closed here before its end")
    private static let notEmpty = StreamFault(
        description: "the other device sends something where only the end of its direction is expected")

    /// The number of bytes that stands for an end of file.
    /// - Throws: if the end is none.
    private var endOfFile: Int {
        get throws(StreamFault) {
            if holder == .documentReceiver, !hasEnded.load(ordering: .acquiring) { throw Self.left }
            return 0
        }
    }

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
    /// - Throws: what the system cannot do; that a broker has gone before the end of a document.
    func read(_ data: UnsafeMutableRawBufferPointer) throws(StreamFault) -> Int {
        guard let start = data.baseAddress else { return 0 }
        // Waits until there is more than the used byte. The byte that this gives is ignored: kernels before
        // 6.18 begin at the head of the queue after they have waited ("af_unix: Read sk_peek_offset() again
        // after sleeping").
        guard try receive(start, 1, Int32(MSG_PEEK)) == 1 else { return try endOfFile }
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
                if holder != .application { throw Self.left }
                return 0
            }
            if errno != EINTR { throw .system }
        }
    }

    /// Writes `bytes`, waiting for the application as long as `stop` is not signalled.
    /// - Throws: what the system cannot do; that nothing may be written to this holder, or that it has gone.
    func write(_ bytes: UnsafeRawBufferPointer, unless stop: StopSignal) throws(StreamFault) -> Writing {
        if holder == .documentSender { throw Self.notEmpty }
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
                if holder != .application { throw Self.left }
                return .refused
            } else if errno != EINTR {
                throw .system
            }
        }
        return .done
    }

    /// The application reads an end of file after what was written to it.
    func endWriting() {
        // Nobody can answer the end before it is there.
        hasEnded.store(true, ordering: .releasing)
        shutdown(descriptor, Int32(SHUT_WR))
    }

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

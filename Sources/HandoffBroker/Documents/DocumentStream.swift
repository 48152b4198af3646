// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import Glibc
internal import HandoffCore
internal import Synchronization

/// The stream that brings a document: its bytes, then 32 bytes of their SHA-256, then the end.
///
/// The other direction stays empty; its end tells the origin that the document is here and right. So that nothing else
/// looks like that, not even the death of this process, one byte always stays in the queue until then: a socket that is
/// closed with unread data is seen as broken at the other end (unix(7)).
final class DocumentStream: Sendable {
    private let socket: FileDescriptor
    private let cancelled = Atomic<Bool>(false)
    private static let chunk = 256 << 10

    /// Takes over the socket that the bridge gave.
    init(_ socket: consuming FileDescriptor) {
        self.socket = socket
    }

    /// Whether the document is no longer wanted.
    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// Has reading end, and the origin not send any more; from any thread. The stream is broken once this is freed.
    func cancel() {
        cancelled.store(true, ordering: .releasing)
        // Not the other direction as well: that would acknowledge the document.
        shutdown(socket.number, Int32(SHUT_RD))
    }

    /// Tells the origin that the document is here. There must be nothing more to come.
    func acknowledge() {
        var byte: UInt8 = 0
        _ = recv(socket.number, &byte, 1, Int32(MSG_DONTWAIT))
        shutdown(socket.number, Int32(SHUT_WR))
    }

    /// Waits a moment until there is something unread, by which the other end sees that the stream is broken and not
    /// acknowledged. To be called before a stream is given up of which nothing may have been read.
    func awaitAnything() {
        var time = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(
            socket.number, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout.size(ofValue: time)))
        setPeekOffset(0)
        var byte: UInt8 = 0
        _ = recv(socket.number, &byte, 1, Int32(MSG_PEEK))
    }

    /// Gives `take` everything that comes, piece by piece as it comes, until the end.
    /// - Throws: what `take` throws; an error number if the stream was cut.
    func read(_ take: (UnsafeRawBufferPointer) throws(HandoffFailure) -> Void) throws(HandoffFailure) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 4096)
        defer { buffer.deallocate() }
        while try awaitMoreThanLast(buffer) {
            var queued: Int32 = 0
            guard ioctl(socket.number, UInt(FIONREAD), &queued) == 0 else { throw Self.cut }
            // A kernel before 6.18 may have stopped waiting at the byte that is to stay.
            guard queued > 1 else { continue }
            let count = try receive(buffer, min(Int(queued) - 1, buffer.count), 0)
            guard count > 0 else { throw Self.cut }
            try take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        // The last byte is looked at, and stays.
        setPeekOffset(0)
        let last = try receive(buffer, 1, Int32(MSG_PEEK))
        try take(UnsafeRawBufferPointer(rebasing: buffer[..<last]))
    }

    /// Waits until there is more than one byte; false at the end.
    private func awaitMoreThanLast(_ buffer: UnsafeMutableRawBufferPointer) throws(HandoffFailure) -> Bool {
        setPeekOffset(1)
        return try receive(buffer, 1, Int32(MSG_PEEK)) == 1
    }

    /// Sets where in the queue the next peek begins (socket(7), `SO_PEEK_OFF`).
    private func setPeekOffset(_ offset: Int32) {
        var offset = offset
        setsockopt(
            socket.number, SOL_SOCKET, SO_PEEK_OFF, &offset, socklen_t(MemoryLayout.size(ofValue: offset)))
    }

    private func receive(
        _ buffer: UnsafeMutableRawBufferPointer, _ count: Int, _ flags: Int32
    ) throws(HandoffFailure) -> Int {
        while true {
            let received = recv(socket.number, buffer.baseAddress, count, flags)
            if received >= 0 { return received }
            guard errno == EINTR else { throw Self.cut }
        }
    }

    /// The document did not come to its end.
    static let cut = HandoffFailure(
        .connectionUnavailable,
        "The other device, or the connection to it, broke off while it sent the document. See whether it is awake and"
            + " on the network, then try again.")
}

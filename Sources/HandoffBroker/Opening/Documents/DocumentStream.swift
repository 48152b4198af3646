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
        var start: Int32 = 0
        setsockopt(
            socket.number, SOL_SOCKET, SO_PEEK_OFF, &start, socklen_t(MemoryLayout.size(ofValue: start)))
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
        var start: Int32 = 0
        setsockopt(
            socket.number, SOL_SOCKET, SO_PEEK_OFF, &start, socklen_t(MemoryLayout.size(ofValue: start)))
        var byte: UInt8 = 0
        _ = recv(socket.number, &byte, 1, Int32(MSG_PEEK))
    }

    /// Gives `take` everything that comes, piece by piece as it comes, until the end.
    /// - Throws: what `take` throws; an error number if the stream was cut.
    func read(_ take: (UnsafeRawBufferPointer) throws(HandoffFailure) -> Void) throws(HandoffFailure) {
        var buffer = [UInt8](repeating: 0, count: Self.chunk)
        var isFirst = true
        while true {
            let count = try receive(&buffer, buffer.count, Int32(MSG_PEEK))
            guard count > 0 else { return }
            do {
                try buffer.withUnsafeBytes { try take(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            } catch {
                throw error as? HandoffFailure ?? Self.cut
            }
            // All but the last byte that was looked at is taken out.
            var rest = isFirst ? count - 1 : count
            isFirst = false
            while rest > 0 { rest -= max(1, try receive(&buffer, rest, 0)) }
        }
    }

    private func receive(_ buffer: inout [UInt8], _ count: Int, _ flags: Int32) throws(HandoffFailure) -> Int
    {
        while true {
            let received = recv(socket.number, &buffer, count, flags)
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

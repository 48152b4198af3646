// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus
internal import Glibc
package import MainLoop
internal import Platform

/// What carries the bytes of a ``SocketChannel``: a socket as it is, one that carries descriptors too, or TLS. Its functions
/// never block, unless they say so.
@MainLoop
package protocol Transport: AnyObject {
    /// Whether less than was asked for means that there is nothing more to read now.
    var isDrainedByShortRead: Bool { get }
    /// Whether descriptors travel with messages.
    var takesDescriptors: Bool { get }
    /// How many bytes are written at a time at most.
    var pieceSize: Int { get }

    /// Reads what is there into `buffer`, which has room for 64 KiB, and adds the descriptors that came along to `descriptors`;
    /// they are the caller's to close.
    func read(into buffer: UnsafeMutableRawBufferPointer, _ descriptors: inout [Int32]) -> Transfer
    /// Writes from `bytes`, of which there is at least one, and sends `descriptors` along with the first. After
    /// ``Transfer/wouldBlock`` it has to be called with the same bytes again. If it fails with descriptors, as it does while
    /// too many of this user's are on their way, nothing was written.
    func write(_ bytes: UnsafeRawBufferPointer, _ descriptors: [Int32]) -> Transfer
    /// Calls `body` whenever there is something to read, until what is returned is freed.
    func whenReadable(_ body: @escaping @MainLoop () -> Void) -> AnyObject
    /// Calls `body` whenever writing would not block, until what is returned is freed.
    func whenWritable(_ body: @escaping @MainLoop () -> Void) -> AnyObject
    /// Returns when writing would not block, at `deadline` at the latest, in microseconds of ``MainLoop/now``.
    func awaitRoom(until deadline: Int64)
    /// Returns when there is something to read, a millisecond later at the latest.
    func awaitInput()
    /// Has what is there already be the last that is read.
    func endInput()
    /// Ends the connection at once.
    func close()
    /// Ends the connection after everything that was written, so that the other side reads that this is the end.
    func finish()
}

extension Transport {
    package func awaitInput() {}
}

/// The result of reading or writing.
package enum Transfer {
    /// This many bytes were read or written.
    case bytes(Int)
    /// Nothing can be done now.
    case wouldBlock
    /// The other side has ended the connection: in order, or without a word.
    case ended(inOrder: Bool)
    /// The connection is broken, because of this.
    case failed(String)
}

/// A stream socket as it is, with descriptors (SCM_RIGHTS, unix(7)) if it `takesDescriptors`.
@MainLoop
package final class SocketTransport: Transport {
    private let socket: FileDescriptor
    package let takesDescriptors: Bool

    /// The connection of `socket`.
    package init(_ socket: consuming FileDescriptor, takesDescriptors: Bool) {
        self.socket = socket
        self.takesDescriptors = takesDescriptors
    }

    package var isDrainedByShortRead: Bool { true }
    package var pieceSize: Int { 1 << 18 }

    package func read(
        into buffer: UnsafeMutableRawBufferPointer, _ descriptors: inout [Int32]
    ) -> Transfer {
        let read =
            takesDescriptors
            ? Self.receive(from: socket.number, into: buffer, &descriptors) : receive(into: buffer)
        switch read {
        case 1...: return .bytes(read)
        case 0, -Int(ECONNRESET): return .ended(inOrder: read == 0)
        case -Int(EAGAIN), -Int(EINTR): return .wouldBlock
        default: return .failed(String(cString: strerror(Int32(-read))))
        }
    }

    private func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let read = recv(socket.number, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        return read < 0 ? -Int(errno) : read
    }

    /// Reads once. Were there no number left for a descriptor that comes, all that came with it would be lost.
    nonisolated static func receive(
        from socket: Int32, into buffer: UnsafeMutableRawBufferPointer, _ descriptors: inout [Int32]
    ) -> Int {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: Int(HANDOFF_DESCRIPTORS)) { numbers in
            var count: Int32 = 0
            let read = DescriptorLimit.withReserve {
                handoff_receive(socket, buffer.baseAddress, buffer.count, numbers.baseAddress, &count)
            }
            if count < 0 { descriptors.append(Framer.lost) }
            descriptors += numbers.prefix(max(0, Int(count)))
            return read
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, _ descriptors: [Int32]) -> Transfer {
        let written = handoff_send(
            socket.number, bytes.baseAddress, bytes.count, descriptors, Int32(descriptors.count))
        switch written {
        case 0...: return .bytes(written)
        case -Int(EAGAIN), -Int(EINTR): return .wouldBlock
        case -Int(EPIPE), -Int(ECONNRESET): return .ended(inOrder: false)
        default: return .failed(String(cString: strerror(Int32(-written))))
        }
    }

    package func whenReadable(_ body: @escaping @MainLoop () -> Void) -> AnyObject {
        DescriptorSource(socket.number, .readable) { _ in body() }
    }

    package func whenWritable(_ body: @escaping @MainLoop () -> Void) -> AnyObject {
        DescriptorSource(socket.number, .writable) { _ in body() }
    }

    package func awaitRoom(until deadline: Int64) {
        wait(for: POLLOUT, Int32(max(0, deadline - MainLoop.now) / 1000) + 1)
    }

    package func awaitInput() { wait(for: POLLIN, 1) }

    private func wait(for events: Int32, _ milliseconds: Int32) {
        var entry = pollfd(fd: socket.number, events: Int16(events), revents: 0)
        poll(&entry, 1, milliseconds)
    }

    package func endInput() { shutdown(socket.number, Int32(SHUT_RD)) }
    package func close() { shutdown(socket.number, Int32(SHUT_RDWR)) }
    package func finish() { close() }
}

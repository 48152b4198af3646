// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
import Glibc

/// A descriptor that is no end of a stream, as somebody might send one.
package enum OddStream: CaseIterable, Sendable {
    /// A file that takes and has nothing.
    case file
    /// A file that was not opened, only found.
    case path
    /// The end of a pipe to read from.
    case pipe
    /// A socket of a pair that sends datagrams.
    case datagrams
    /// A socket of a pair that sends packets in order.
    case packets
    /// A stream socket that is not connected.
    case unconnected
    /// A stream socket that takes connections.
    case listening
    /// A stream socket of the network.
    case network

    /// `O_PATH` (open(2)), which the C module lacks.
    private static let pathOnly: Int32 = 0o10_000_000

    /// What is said of it.
    package var description: String {
        switch self {
        case .file, .pipe: "no socket"
        case .path: "nothing that can be read or written"
        case .datagrams: "a datagram socket"
        case .packets: "a socket of packets"
        case .unconnected, .listening: "a socket without a connection"
        case .network: "a socket of another family"
        }
    }

    /// One of it. Nothing ever comes from its other end, which is kept open in `other` if it has one.
    package func make(keeping other: inout [Int32]) throws -> FileDescriptor {
        switch self {
        case .file: return try checked(open("/dev/null", O_RDWR | O_CLOEXEC))
        case .path: return try checked(open("/dev/null", Self.pathOnly | O_CLOEXEC))
        case .pipe: return try firstEnd(of: &other) { Glibc.pipe($0) }
        case .datagrams:
            return try firstEnd(of: &other) { socketpair(AF_UNIX, Self.type(SOCK_DGRAM), 0, $0) }
        case .packets:
            return try firstEnd(of: &other) { socketpair(AF_UNIX, Self.type(SOCK_SEQPACKET), 0, $0) }
        case .unconnected: return try checked(socket(AF_UNIX, Self.type(SOCK_STREAM), 0))
        case .listening:
            let listener = try checked(socket(AF_UNIX, Self.type(SOCK_STREAM), 0))
            // Without a path, it gets a name from the kernel, which is no file's.
            var address = sockaddr()
            address.sa_family = sa_family_t(AF_UNIX)
            bind(listener.number, &address, socklen_t(MemoryLayout<sa_family_t>.size))
            listen(listener.number, 1)
            return listener
        case .network: return try checked(socket(AF_INET, Self.type(SOCK_STREAM), 0))
        }
    }

    /// Whether nobody has the other end of `end`, one of those that were kept, any more.
    package static func isAlone(_ end: Int32) -> Bool {
        var byte: UInt8 = 0
        if send(end, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) == 1 { return false }
        // That of a pipe is no socket.
        guard errno == ENOTSOCK else { return errno != EAGAIN }
        var entry = pollfd(fd: end, events: 0, revents: 0)
        return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLERR) != 0
    }

    private static func type(_ type: __socket_type) -> Int32 {
        Int32(type.rawValue | SOCK_CLOEXEC.rawValue)
    }

    private func firstEnd(
        of others: inout [Int32], _ make: (UnsafeMutablePointer<Int32>) -> Int32
    ) throws -> FileDescriptor {
        var ends: [Int32] = [-1, -1]
        let failed = ends.withUnsafeMutableBufferPointer { $0.baseAddress.map { make($0) } ?? -1 }
        let first = try checked(failed == 0 ? ends[0] : -1)
        others.append(ends[1])
        return first
    }

    private func checked(_ number: Int32) throws -> FileDescriptor {
        guard number >= 0 else { throw DBusError(.failed, "\(self): \(String(cString: strerror(errno)))") }
        return FileDescriptor(owning: number)
    }
}

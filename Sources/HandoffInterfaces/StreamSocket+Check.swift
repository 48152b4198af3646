// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import Glibc
package import HandoffCore

extension StreamSocket {
    /// Makes sure that `descriptor`, which somebody else has sent, is the end of a stream: a connected stream socket of this
    /// machine. On anything else no end and no break can be told, and a reader might wait for ever.
    ///
    /// A socket whose other end is closed already is one too: what was written to it can be read.
    /// - Parameters:
    ///   - code: what kind of failure it is if it is none.
    ///   - remedy: a sentence that says what to do about it.
    package static func check(
        _ descriptor: borrowing FileDescriptor, or code: HandoffFailure.Code, remedy: String
    ) throws(HandoffFailure) {
        guard let flaw = flaw(of: descriptor, in: [AF_UNIX]) else { return }
        throw HandoffFailure(
            code,
            "What came as a stream is \(flaw), and was closed. A stream is a connected AF_UNIX stream socket, on which"
                + " each side can tell an end from a break. \(remedy)")
    }

    /// What `descriptor` is instead of a connected stream socket of one of these families; nil if it is one.
    package static func flaw(of descriptor: borrowing FileDescriptor, in families: [Int32]) -> String? {
        let descriptor = descriptor.number
        guard let domain = option(SO_DOMAIN, of: descriptor), let type = option(SO_TYPE, of: descriptor)
        else {
            return errno == ENOTSOCK ? "no socket" : "nothing that can be read or written"
        }
        if type == Int32(SOCK_DGRAM.rawValue) { return "a datagram socket" }
        if type == Int32(SOCK_SEQPACKET.rawValue) { return "a socket of packets (SOCK_SEQPACKET)" }
        if type != Int32(SOCK_STREAM.rawValue) { return "a socket of another type (\(type))" }
        if !families.contains(domain) { return "a socket of another family (\(domain))" }
        return isConnected(descriptor) ? nil : "a socket without a connection"
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var (value, size): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }

    /// Whether it was ever connected: that stays so when the other end is closed.
    private static func isConnected(_ descriptor: Int32) -> Bool {
        var (address, size) = (sockaddr_un(), socklen_t(MemoryLayout<sockaddr_un>.size))
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) == 0 }
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import MainLoop

/// Bytes without TLS, of which there are few.
@MainLoop
extension SocketConnection {
    var descriptor: Int32 { g_socket_get_fd(g_socket_connection_get_socket(reference.raw)) }

    /// Reads this many bytes, and none behind them.
    /// - Throws: `CancellationError`, or why they do not come.
    func read(_ count: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var rest = [UInt8](repeating: 0, count: count - bytes.count)
            let taken = recv(descriptor, &rest, rest.count, Int32(MSG_DONTWAIT))
            if taken > 0 {
                bytes += rest[..<taken]
            } else if taken == 0 {
                throw Knock.Violation(description: "the connection was closed")
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                try await untilReadable()
            } else if errno != EINTR {
                throw Knock.Violation(description: String(cString: strerror(errno)))
            }
        }
        return bytes
    }

    /// Writes the first bytes on a connection, for which there always is room.
    /// - Throws: why they do not go.
    func write(_ bytes: [UInt8]) throws {
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        guard send(descriptor, bytes, bytes.count, flags) == bytes.count else {
            throw Knock.Violation(description: "it takes nothing: \(String(cString: strerror(errno)))")
        }
    }
}

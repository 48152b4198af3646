// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// What goes over a connection before TLS. At present nothing does.
@MainLoop
enum Opening {
    /// As the side that has dialled.
    static func dial(_ socket: SocketConnection) async throws {}

    /// As the side that was dialled.
    ///
    /// Waits until the other side has begun: a handshake blocks one of a few threads of GIO from its start,
    /// so that a few dozen connections that say nothing would keep everybody else out.
    static func answer(_ socket: SocketConnection) async throws { try await socket.untilReadable() }
}

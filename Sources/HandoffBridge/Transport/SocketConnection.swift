// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import MainLoop
internal import Platform

/// A TCP connection before anything has been said on it. It is closed when it is freed.
struct SocketConnection: Sendable {
    let reference: ObjectReference<GSocketConnection>
    /// Where the other end is, as text; empty if that is unknown.
    let remoteAddress: String
    /// The address of the other end without the port.
    let remoteHost: String

    /// Takes over a connection.
    init(owning raw: UnsafeMutablePointer<GSocketConnection>) {
        reference = ObjectReference(owning: raw)
        (remoteHost, remoteAddress) = Self.remote(raw)
    }

    /// Makes the kernel find out about an end that has vanished, within 45 seconds, and send at once what is
    /// written.
    ///
    /// Idle for 30 s, it is asked every 10 s; what is not acknowledged for 20 s ends it.
    func configureForLink() {
        configure(userTimeout: 20_000)
    }

    /// The same for a stream, where a reader that pauses must not end it.
    func configureForStream() { configure(userTimeout: 0) }

    private func configure(userTimeout: Int32) {
        let socket = g_socket_connection_get_socket(reference.raw)
        g_socket_set_keepalive(socket, 1)
        let options: [(Int32, Int32)] = [
            (TCP_NODELAY, 1), (TCP_KEEPIDLE, 30), (TCP_KEEPINTVL, 10), (TCP_KEEPCNT, 2),
            (TCP_USER_TIMEOUT, userTimeout),
        ]
        for (option, value) in options {
            do throws(GLibError) {
                _ = try throwingGError { g_socket_set_option(socket, Int32(IPPROTO_TCP), option, value, $0) }
            } catch {
                bridgeLog.debug("TCP option \(option) is not set: \(error)")
            }
        }
    }

    /// Closes it now; what was not sent is lost.
    func close() { g_io_stream_close(reference.cast(), nil, nil) }

    private static func remote(_ raw: UnsafeMutablePointer<GSocketConnection>) -> (
        host: String, address: String
    ) {
        guard let address = g_socket_connection_get_remote_address(raw, nil) else { return ("", "") }
        defer { g_object_unref(address) }
        return UnsafeMutableRawPointer(address).withMemoryRebound(to: GInetSocketAddress.self, capacity: 1) {
            guard let text = g_inet_address_to_string(g_inet_socket_address_get_address($0)) else {
                return ("", "")
            }
            defer { g_free(text) }
            let hasZone = g_socket_address_get_family(address) == G_SOCKET_FAMILY_IPV6
            let host =
                String(cString: text) + (hasZone ? zone(g_inet_socket_address_get_scope_id($0)) : "")
            return (host, NetworkAddress(host: host, port: g_inet_socket_address_get_port($0)).description)
        }
    }

    /// What tells equal addresses of several networks apart: the name of the interface, for an address that has one.
    private static func zone(_ scope: guint32) -> String {
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard scope != 0, if_indextoname(scope, &name) != nil else { return "" }
        return "%" + String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension SocketConnection {
    /// Connects to `address`. No proxy is asked.
    /// - Throws: `GLibError`.
    @MainLoop
    static func connect(to address: NetworkAddress) async throws -> SocketConnection {
        guard let client = g_socket_client_new().map({ ObjectReference(owning: $0) }),
            let connectable = g_network_address_new(address.host, address.port)
        else { throw StartFailure("No memory for a connection.") }
        let target = ObjectReference(owning: UnsafeMutablePointer<GObject>(connectable))
        g_socket_client_set_enable_proxy(client.raw, 0)
        return try await AsyncOperation.run { cancellable, ready, data in
            g_socket_client_connect_async(
                client.raw, OpaquePointer(target.raw), cancellable, ready, data)
        } finish: { result in
            let raw = try throwingGError { g_socket_client_connect_finish(client.raw, result, $0) }
            guard let raw else { throw GLibError(taking: nil) }
            return SocketConnection(owning: raw)
        }
    }
}

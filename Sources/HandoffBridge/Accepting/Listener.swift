// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import MainLoop
internal import Platform

/// A TCP socket that others can connect to.
@MainLoop
final class Listener {
    /// The port that it listens on.
    let port: UInt16
    private let socket: ObjectReference<GSocket>
    private let body: @MainLoop (SocketConnection) -> Void
    private var source: DescriptorSource?
    private var pause: LoopSource?

    /// The ports from which one is taken unless the user has chosen one: few enough for the rules of a
    /// firewall to name them.
    nonisolated static let ports: ClosedRange<UInt16> = 45_700...45_799

    /// How many connections the kernel keeps until they are taken.
    private static let backlog: gint = 64
    /// How many connections are taken before others on the main loop get their turn.
    private static let maximumAtOnce = 16

    /// Listens, until this is freed, and hands each connection to `body`.
    /// - Parameters:
    ///   - address: an address of this machine, nil for all of them.
    ///   - port: where to listen; 0 for one of ``ports`` at random, or any if they are all taken.
    ///   - others: the ports that are not to be taken at random.
    /// - Throws: `GLibError` if it cannot listen there.
    init(
        _ address: NetworkAddress?, port: UInt16, otherThan others: Set<UInt16> = [],
        _ body: @escaping @MainLoop (SocketConnection) -> Void
    ) throws {
        self.body = body
        socket =
            port == 0 ? try Self.openAtRandom(address, otherThan: others) : try Self.open(address, port)
        self.port = try Self.port(of: socket)
        watch()
    }

    private static func openAtRandom(
        _ address: NetworkAddress?, otherThan others: Set<UInt16>
    ) throws -> ObjectReference<GSocket> {
        var generator = UnpredictableNumbers()
        for port in ports.filter({ !others.contains($0) }).shuffled(using: &generator) {
            do {
                return try open(address, port)
            } catch let error as GLibError where error.isIO(G_IO_ERROR_ADDRESS_IN_USE) {
                continue
            }
        }
        bridgeLog.message(
            "The ports \(ports.lowerBound) to \(ports.upperBound) are all taken; any other serves.")
        return try open(address, 0)
    }

    isolated deinit {
        source?.cancel()
        g_socket_close(socket.raw, nil)
    }

    private static func open(_ address: NetworkAddress?, _ port: UInt16) throws -> ObjectReference<GSocket> {
        guard let address else {
            // An IPv6 socket that takes IPv4 too, where the kernel has IPv6.
            do {
                return try bind(g_inet_address_new_any(G_SOCKET_FAMILY_IPV6), port)
            } catch let error as GLibError where !error.isIO(G_IO_ERROR_ADDRESS_IN_USE) {
                return try bind(g_inet_address_new_any(G_SOCKET_FAMILY_IPV4), port)
            }
        }
        guard let parsed = g_inet_address_new_from_string(address.host) else {
            throw StartFailure("“\(address.host)” is not an IP address to listen on.")
        }
        return try bind(parsed, port)
    }

    /// Takes over `address`.
    private static func bind(
        _ address: UnsafeMutablePointer<GInetAddress>?, _ port: UInt16
    ) throws -> ObjectReference<GSocket> {
        guard let address else { throw GLibError(taking: nil) }
        defer { g_object_unref(address) }
        let family = g_inet_address_get_family(address)
        let raw = try throwingGError { g_socket_new(family, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, $0) }
        guard let raw, let target = g_inet_socket_address_new(address, port) else {
            throw GLibError(taking: nil)
        }
        let socket = ObjectReference(owning: raw)
        defer { g_object_unref(target) }
        g_socket_set_blocking(raw, 0)
        g_socket_set_listen_backlog(raw, backlog)
        _ = try throwingGError { g_socket_bind(raw, target, 1, $0) }
        _ = try throwingGError { g_socket_listen(raw, $0) }
        return socket
    }

    private static func port(of socket: ObjectReference<GSocket>) throws -> UInt16 {
        guard let address = try throwingGError({ g_socket_get_local_address(socket.raw, $0) }) else {
            return 0
        }
        defer { g_object_unref(address) }
        return UnsafeMutableRawPointer(address).withMemoryRebound(to: GInetSocketAddress.self, capacity: 1) {
            g_inet_socket_address_get_port($0)
        }
    }

    private func watch() {
        source = DescriptorSource(g_socket_get_fd(socket.raw), .readable) { [weak self] _ in self?.accept() }
    }

    private func accept() {
        for _ in 0..<Self.maximumAtOnce {
            do throws(GLibError) {
                guard let raw = try throwingGError({ g_socket_accept(socket.raw, nil, $0) }) else { return }
                defer { g_object_unref(raw) }
                guard let connection = g_socket_connection_factory_create_connection(raw) else { return }
                body(SocketConnection(owning: connection))
            } catch {
                if !error.isIO(G_IO_ERROR_WOULD_BLOCK) { rest(error) }
                return
            }
        }
    }

    /// Without free descriptors or memory, the connection stays in the kernel's queue, and would be reported
    /// again at once.
    private func rest(_ error: GLibError) {
        bridgeLog.debug("A connection was not taken: \(error)")
        source?.cancel()
        pause = .timer(after: .seconds(1)) { [weak self] in self?.watch() }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// A connection before anything has been said on it: one of TCP, or one that a carrier has brought. It is closed when it is
/// freed.
struct SocketConnection: Sendable {
    let reference: ObjectReference<GSocketConnection>
    /// Where the other end is, as text; empty if that is unknown. For a carried connection, by which way it is reached.
    let remoteAddress: String
    /// The address of the other end without the port; ``carriers`` for a carried connection.
    let remoteHost: String

    /// What stands for the host at the other end of each connection that a carrier has brought: nothing is known of it.
    static let carriers = "carriers"

    /// Whether a carrier has brought it.
    var isCarried: Bool { remoteHost == Self.carriers }

    /// Takes over a connection.
    init(owning raw: UnsafeMutablePointer<GSocketConnection>) {
        reference = ObjectReference(owning: raw)
        (remoteHost, remoteAddress) = Self.remote(raw)
    }

    /// Takes over a connection that a carrier has brought; `way` says by which way, for people.
    /// - Throws: `invalidArguments` if it is no connected stream socket.
    init(carrying descriptor: consuming FileDescriptor, _ way: String) throws {
        if let flaw = StreamSocket.flaw(of: descriptor, in: [AF_UNIX, AF_INET, AF_INET6]) {
            throw HandoffFailure(
                .invalidArguments, "The connection is \(flaw). Give a connected stream socket.")
        }
        let raw = try throwingGError { g_socket_new_from_fd(descriptor.number, $0) }
        guard let raw else { throw GLibError(taking: nil) }
        // Now the socket owns it.
        _ = descriptor.take()
        defer { g_object_unref(raw) }
        guard let connection = g_socket_connection_factory_create_connection(raw) else {
            throw GLibError(taking: nil)
        }
        reference = ObjectReference(owning: connection)
        (remoteHost, remoteAddress) = (Self.carriers, way)
    }

    /// Makes the kernel find out within 45 seconds when the other end has vanished, and send at once what is
    /// written.
    ///
    /// After 30 s without traffic, the other end is asked every 10 s; what is not acknowledged for 20 s ends
    /// the connection.
    func configureForLink() {
        configure(userTimeout: 20_000)
    }

    /// Does the same for a stream, which must not end because its reader pauses.
    func configureForStream() { configure(userTimeout: 0) }

    private func configure(userTimeout: Int32) {
        // Its kernel knows nothing of the other end.
        guard !isCarried else { return }
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

    /// Closes the connection now; what was not sent is lost.
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
    /// Connects to `address`, never through a proxy.
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

/// Reading and writing the few bytes that go without TLS.
@MainLoop
extension SocketConnection {
    var descriptor: Int32 { g_socket_get_fd(g_socket_connection_get_socket(reference.raw)) }

    /// Reads this many bytes, and none after them.
    /// - Throws: `CancellationError`, or the reason why they do not come.
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
                throw Knock.Violation(description: SystemError.last)
            }
        }
        return bytes
    }

    /// Writes the first bytes on a connection, for which there always is room.
    /// - Throws: the reason why they cannot be sent.
    func write(_ bytes: [UInt8]) throws {
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        guard send(descriptor, bytes, bytes.count, flags) == bytes.count else {
            throw Knock.Violation(description: "it takes nothing: \(SystemError.last)")
        }
    }
}

@MainLoop
extension SocketConnection {
    /// The bytes of this end's IP address; an IPv4 address that is mapped to IPv6 is given as IPv4. Nil if
    /// they are not known, or a carrier has brought the connection.
    var localAddress: [UInt8]? {
        guard !isCarried, let bytes = localEnd?.address else { return nil }
        guard bytes.count == 16, bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] else {
            return bytes
        }
        return Array(bytes.suffix(4))
    }

    /// Where the other side has arrived, as it may have said in its knock; nil if that is not known.
    var localDestination: KnockDestination? {
        isCarried ? nil : localEnd.flatMap { KnockDestination(address: $0.address, port: $0.port) }
    }

    /// This end's IP address as the kernel has it, and its port.
    private var localEnd: (address: [UInt8], port: UInt16)? {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                guard getsockname(descriptor, raw, &size) == 0, let bytes = NetworkInterface.bytes(raw)
                else { return nil }
                // The port is at the same place in addresses of both families.
                let port = raw.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_port }
                return (bytes, UInt16(bigEndian: port))
            }
        }
    }

    /// How long the other side's kernel has been silent; nil if it has acknowledged everything (tcp(7),
    /// `TCP_INFO`), or a carrier has brought the connection.
    var silence: Silence? {
        guard !isCarried else { return nil }
        var info = tcp_info()
        var size = socklen_t(MemoryLayout<tcp_info>.size)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0 else { return nil }
        guard info.tcpi_unacked > 0 else { return nil }
        return Silence(
            duration: .milliseconds(Int64(info.tcpi_last_ack_recv)), isDoubtful: info.tcpi_retransmits > 0)
    }
}

extension SocketConnection {
    /// Returns when there is something to read, or the connection has ended.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    @MainLoop
    func untilReadable() async throws {
        let readiness = SocketReadiness(g_socket_get_fd(g_socket_connection_get_socket(reference.raw)))
        try await withTaskCancellationHandler {
            try await readiness.wait()
        } onCancel: {
            MainLoop.start { readiness.finish(.failure(CancellationError())) }
        }
    }
}

/// One wait for a socket: whichever of the socket and the cancellation comes first ends it.
@MainLoop
private final class SocketReadiness {
    private let descriptor: Int32
    private var continuation: CheckedContinuation<Void, any Error>?
    private var source: DescriptorSource?

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    func wait() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
            self.continuation = continuation
            source = DescriptorSource(descriptor, .readable) { [weak self] _ in self?.finish(.success(())) }
        }
    }

    func finish(_ result: Result<Void, any Error>) {
        source?.cancel()
        source = nil
        continuation?.resume(with: result)
        continuation = nil
    }
}

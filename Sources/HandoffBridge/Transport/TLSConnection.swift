// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import Glibc
internal import HandoffCore
internal import MainLoop
internal import Platform

/// A TLS connection to a device that has shown its certificate. Its functions never block, unless they say
/// so.
@MainLoop
final class TLSConnection: Transport {
    /// Which end of the connection this device is.
    enum Side {
        /// This device has dialled.
        case client
        /// This device was dialled.
        case server
    }

    /// What a handshake demands of the other side.
    struct Demand: Sendable {
        /// This device.
        let ours: DeviceID
        /// The device that is wanted; nil for any but this one.
        let expected: DeviceID?

        /// Why a device with `certificate` does not meet the demand; nil if it does.
        func refusal(of certificate: Certificate) -> TLSFailure? {
            guard let device = certificate.device else { return TLSFailure("its certificate cannot be read") }
            if device == ours { return TLSFailure("it is this device itself", isOurselves: true) }
            if let expected, device != expected { return TLSFailure("it is \(device), not \(expected)") }
            return nil
        }
    }

    /// The device at the other end: the hash of its certificate.
    let peer: DeviceID
    private let connection: ObjectReference<GTlsConnection>
    private let socket: SocketConnection
    /// Whether this side has ended the connection in order.
    private var hasFinished = false

    private init(_ connection: ObjectReference<GTlsConnection>, _ socket: SocketConnection, _ peer: DeviceID)
    {
        self.connection = connection
        self.socket = socket
        self.peer = peer
    }

    /// Runs the handshake over `socket` and finds out who is at the other end.
    /// - Throws: ``TLSFailure`` or what GIO says; then the socket is closed, so that the other side does not
    ///   wait.
    static func establish(
        _ side: Side, over socket: SocketConnection, as identity: Identity,
        demanding expected: DeviceID? = nil
    ) async throws -> TLSConnection {
        let demand = Demand(ours: identity.device, expected: expected)
        let gate = HandshakeGate(side == .client ? demand : nil)
        do {
            let connection = try make(side, over: socket, identity.certificate)
            gate.guard(connection)
            let descriptor = socket.descriptor
            // This runs on a thread of GIO, which reads an end when the socket is shut down.
            _ = try await AsyncOperation.run { ready, data in
                g_tls_connection_handshake_async(connection.raw, 0, nil, ready, data)
            } finish: { result in
                try throwingGError { g_tls_connection_handshake_finish(connection.raw, result, $0) }
            } cancel: {
                shutdown(descriptor, Int32(SHUT_RDWR))
            }
            return TLSConnection(connection, socket, try verify(connection, demand))
        } catch {
            socket.close()
            throw gate.refusal ?? error
        }
    }

    /// The one place that decides who is at the other end of a completed handshake.
    private static func verify(
        _ connection: ObjectReference<GTlsConnection>, _ demand: Demand
    ) throws -> DeviceID {
        guard g_tls_connection_get_protocol_version(connection.raw) == G_TLS_PROTOCOL_VERSION_TLS_1_3 else {
            throw TLSFailure("it does not speak TLS 1.3")
        }
        guard let raw = g_tls_connection_get_peer_certificate(connection.raw) else {
            throw TLSFailure("it showed no certificate")
        }
        // The hash is all that counts: names, dates and signatures in it were written by whoever made it, and
        // that the other side has its key was shown by the handshake.
        let certificate = Certificate(retaining: raw)
        if let refusal = demand.refusal(of: certificate) { throw refusal }
        guard let device = certificate.device else { throw TLSFailure("its certificate cannot be read") }
        return device
    }

    /// The bytes of this end's IP address; nil if they are not known.
    var localAddress: [UInt8]? { socket.localAddress }

    /// How long the other side has been silent; nil if it has acknowledged everything.
    var silence: Silence? { socket.silence }

    /// 32 bytes that only the two ends of this connection know (RFC 9266).
    /// - Throws: if TLS does not give them.
    func exporter() throws -> [UInt8] {
        let array = g_byte_array_new()
        defer { g_byte_array_unref(array) }
        _ = try throwingGError {
            g_tls_connection_get_channel_binding_data(
                connection.raw, G_TLS_CHANNEL_BINDING_TLS_EXPORTER, array, $0)
        }
        guard let array, array.pointee.len == 32 else { throw TLSFailure("TLS has no exporter") }
        return Array(UnsafeBufferPointer(start: array.pointee.data, count: 32))
    }

    // MARK: Bytes

    /// Room for the largest TLS record: then no decrypted byte stays behind where no poll sees it.
    nonisolated static let recordSize = 1 << 14

    private var input: OpaquePointer { OpaquePointer(g_io_stream_get_input_stream(connection.cast())) }
    private var output: OpaquePointer { OpaquePointer(g_io_stream_get_output_stream(connection.cast())) }

    var isDrainedByShortRead: Bool { false }
    var takesDescriptors: Bool { false }
    var pieceSize: Int { Self.recordSize }

    func read(into buffer: UnsafeMutableRawBufferPointer, _ descriptors: inout [Int32]) -> Transfer {
        read(into: buffer)
    }

    func write(_ bytes: UnsafeRawBufferPointer, _ descriptors: [Int32]) -> Transfer { write(bytes) }

    /// Reads what is there into `buffer`, which must have room for ``recordSize`` bytes.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        transferred { error in
            g_pollable_input_stream_read_nonblocking(
                input, buffer.baseAddress, gsize(buffer.count), nil, error)
        }
    }

    /// Writes from `bytes`, of which there is at least one. After ``Transfer/wouldBlock`` it has to be called
    /// with the same bytes again.
    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        transferred { error in
            g_pollable_output_stream_write_nonblocking(
                output, bytes.baseAddress, gsize(bytes.count), nil, error)
        }
    }

    private func transferred(
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> gssize
    ) -> Transfer {
        do throws(GLibError) {
            let count = try throwingGError(body)
            return count > 0 ? .bytes(Int(count)) : .ended(inOrder: true)
        } catch {
            if error.isIO(G_IO_ERROR_WOULD_BLOCK) { return .wouldBlock }
            return error.isTLSEnd ? .ended(inOrder: false) : .failed(error.message)
        }
    }

    /// Calls `body` whenever there is something to read, until the source is cancelled.
    func whenReadable(_ body: @escaping @MainLoop () -> Void) -> AnyObject {
        LoopSource.pollable(g_pollable_input_stream_create_source(input, nil), body)
    }

    /// Calls `body` whenever writing would not block, until the source is cancelled.
    func whenWritable(_ body: @escaping @MainLoop () -> Void) -> AnyObject {
        LoopSource.pollable(g_pollable_output_stream_create_source(output, nil), body)
    }

    /// Returns when writing would not block, at `deadline` at the latest, in microseconds of ``MainLoop/now``.
    func awaitRoom(until deadline: Int64) {
        var entry = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&entry, 1, Int32(max(0, deadline - MainLoop.now) / 1000) + 1)
    }

    /// Waits for one byte.
    /// - Throws: if the connection ends before; `CancellationError`.
    func readByte() async throws -> UInt8 {
        var byte: UInt8 = 0
        while true {
            switch withUnsafeMutableBytes(of: &byte, { read(into: $0) }) {
            case .bytes: return byte
            case .wouldBlock: try await socket.untilReadable()
            case .ended: throw TLSFailure("the other device has closed the connection")
            case .failed(let why): throw TLSFailure(why)
            }
        }
    }

    /// The same connection for threads that may block, to be used instead of this one.
    func streamTransport() -> StreamTransport { StreamTransport(connection, socket) }

    /// The IP address of the other end, or what stands for it.
    var remoteHost: String { socket.remoteHost }

    /// Whether a carrier has brought the connection.
    var isCarried: Bool { socket.isCarried }

    /// TLS says by itself what its last byte is.
    func endInput() {}

    /// Ends the connection at once, unless it has been ended in order. To the other side it looks cut off.
    /// Its sources must have been cancelled.
    func close() { if !hasFinished { socket.close() } }

    /// Ends the connection in order: after everything that was written, the other side reads that this is the
    /// end. Its sources must have been cancelled.
    func finish() {
        var entry = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
        // TLS waits for room for its goodbye, so there must be some.
        guard poll(&entry, 1, 0) == 1, entry.revents == Int16(POLLOUT) else { return close() }
        hasFinished = true
        g_output_stream_close(g_io_stream_get_output_stream(connection.cast()), nil, nil)
        shutdown(socket.descriptor, Int32(SHUT_WR))
        Farewell.keep(socket.descriptor) { [connection, socket] in
            // When the TLS connection is freed, it closes the socket under it, and so it has to be kept until
            // then.
            withExtendedLifetime(connection) { socket.close() }
        }
    }
}

extension GLibError {
    /// Whether the error says that the other side has ended the connection without TLS's goodbye.
    var isTLSEnd: Bool { domain == g_tls_error_quark() && code == Int32(G_TLS_ERROR_EOF.rawValue) }
}

/// Why a device was not accepted.
struct TLSFailure: Error, CustomStringConvertible {
    let description: String
    /// Whether the device is this one.
    let isOurselves: Bool

    init(_ description: String, isOurselves: Bool = false) {
        self.description = description
        self.isOurselves = isOurselves
    }
}

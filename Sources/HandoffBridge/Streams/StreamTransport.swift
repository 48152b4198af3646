// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import MainLoop
internal import Platform

/// The TLS connection of a stream, for threads that may block: one reads, another writes.
final class StreamTransport: @unchecked Sendable {
    // @unchecked: GIO lets one thread read a TLS connection while another writes to it ("GTlsConnection"), the
    // pointers never change, `ending` belongs to the thread that reads, and shutdown(2) and getsockopt(2) may be
    // called at any time.
    private let connection: ObjectReference<GTlsConnection>
    private let socket: SocketConnection
    private let input: UnsafeMutablePointer<GInputStream>?
    private let output: UnsafeMutablePointer<GOutputStream>?
    private let descriptor: Int32
    /// How the connection has ended, which TLS reports only once. Only the thread that reads uses this.
    private var ending: Result<Int, GLibError>?

    /// The transport over a connection whose handshake is complete.
    init(_ connection: ObjectReference<GTlsConnection>, _ socket: SocketConnection) {
        self.connection = connection
        self.socket = socket
        input = g_io_stream_get_input_stream(connection.cast())
        output = g_io_stream_get_output_stream(connection.cast())
        descriptor = g_socket_get_fd(g_socket_connection_get_socket(socket.reference.raw))
    }

    /// Waits for bytes, at most a TLS record of them.
    /// - Returns: the number of bytes; 0 when the other side has closed the connection.
    /// - Throws: why it is broken.
    func read(_ buffer: UnsafeMutableRawBufferPointer) throws(GLibError) -> Int {
        if let ending { return try ending.get() }
        do throws(GLibError) {
            return Int(
                try throwingGError {
                    g_input_stream_read(input, buffer.baseAddress, gsize(buffer.count), nil, $0)
                })
        } catch {
            return try Self.ending(error).get()
        }
    }

    /// Reads without waiting: 0 if nothing is there now. If the connection has ended, the next ``read(_:)``
    /// says so.
    func readMore(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        if ending != nil { return 0 }
        do throws(GLibError) {
            let count = try throwingGError {
                g_pollable_input_stream_read_nonblocking(
                    OpaquePointer(input), buffer.baseAddress, gsize(buffer.count), nil, $0)
            }
            if count == 0 { ending = .success(0) }
            return Int(count)
        } catch {
            if !error.isIO(G_IO_ERROR_WOULD_BLOCK) { ending = Self.ending(error) }
            return 0
        }
    }

    /// What `error` means: the ends of directions are in the frames, so an end without TLS's goodbye is as
    /// good as one with it.
    private static func ending(_ error: GLibError) -> Result<Int, GLibError> {
        error.isTLSEnd ? .success(0) : .failure(error)
    }

    /// Writes all of `bytes`.
    /// - Throws: why it is broken.
    func write(_ bytes: UnsafeRawBufferPointer) throws(GLibError) {
        var written: gsize = 0
        _ = try throwingGError {
            g_output_stream_write_all(output, bytes.baseAddress, gsize(bytes.count), &written, nil, $0)
        }
    }

    /// Nothing more is written: the other side reads an end after what it was sent.
    func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Ends reading and writing, on whichever threads they are.
    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Closes the connection. Nothing may read or write any more.
    @MainLoop
    func close() { socket.close() }

    /// How long the other side's kernel has left something unacknowledged; nil if it has acknowledged
    /// everything.
    @MainLoop
    var silence: Silence? { socket.silence }
}

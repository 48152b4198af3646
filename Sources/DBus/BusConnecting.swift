// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus
internal import CGio
internal import Glibc
internal import MainLoop
internal import Platform

/// The way to a bus: libdbus finds the address, connects and authenticates; from there on the socket is ours. All of it may
/// block.
enum BusConnecting {
    /// How long a bus may take to answer. One that accepts connections and then says nothing counts as
    /// absent.
    static let patience = Duration.seconds(5)

    /// A connection that has its name, and that nobody uses yet.
    final class Connected: @unchecked Sendable {
        // @unchecked: one thread makes it, and another one takes it, after that.
        /// The name that the bus has given.
        let name: BusName
        private var socket: Int32
        private let takesDescriptors: Bool
        private var framer: Framer

        fileprivate init(
            _ name: BusName, _ socket: consuming FileDescriptor, takesDescriptors: Bool,
            _ framer: consuming Framer
        ) {
            self.name = name
            self.socket = socket.take()
            self.takesDescriptors = takesDescriptors
            self.framer = framer
        }

        deinit { if socket >= 0 { close(socket) } }

        /// The channel to the bus, which can be taken once.
        @MainLoop
        func channel() -> SocketChannel {
            var rest = Framer(BusEnd.limits.frames)
            swap(&rest, &framer)
            let transport = SocketTransport(
                FileDescriptor(owning: socket), takesDescriptors: takesDescriptors)
            socket = -1
            return SocketChannel(transport, BusEnd.limits, rest, serial: serialOfHello)
        }
    }

    /// Connects, on the calling thread.
    /// - Throws: what libdbus says if there is no such bus.
    static func connect(_ address: Bus.Address) throws(DBusError) -> Connected {
        let end = MainLoop.now + Int64(patience / .microseconds(1))
        let text =
            switch address {
            case .session: sessionAddress
            case .system: systemAddress
            case .address(let address): address
            case .memory: ""
            }
        let authenticated = try authenticate(text, until: end)
        return try sayHello(
            authenticated.socket, takesDescriptors: authenticated.takesDescriptors, until: end)
    }

    /// Connects, on a separate thread.
    @MainLoop
    static func connectOnThread(_ address: Bus.Address) async throws -> Connected {
        try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Connected, any Error>) in
            do {
                try BackgroundThread.start("bus opening") {
                    let result = Result { try connect(address) }
                    // On the loop: Thread Sanitizer does not see how a continuation hands over.
                    MainLoop.start { continuation.resume(with: result) }
                }
            } catch {
                continuation.resume(
                    throwing: DBusError(.disconnected, "There is no thread for it: \(error)."))
            }
        }
    }

    // MARK: Addresses

    /// Where the session bus is, as libdbus finds it.
    private static var sessionAddress: String {
        if let address = getenv("DBUS_SESSION_BUS_ADDRESS"), address.pointee != 0 {
            return String(cString: address)
        }
        if let folder = getenv("XDG_RUNTIME_DIR") {
            let path = String(cString: folder) + "/bus"
            if access(path, F_OK) == 0, let escaped = dbus_address_escape_value(path) {
                defer { dbus_free(escaped) }
                return "unix:path=" + String(cString: escaped)
            }
        }
        return "autolaunch:"
    }

    /// Where the system bus is, according to the environment or by convention. GIO knows this without
    /// connecting.
    private static var systemAddress: String {
        guard let text = g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SYSTEM, nil, nil) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }

    // MARK: Authentication

    private struct Authenticated: ~Copyable {
        let socket: FileDescriptor
        let takesDescriptors: Bool
    }

    /// Has libdbus connect to the first of the addresses that answers, and authenticate. A bus sends nothing before `Hello`, so
    /// nothing is lost with libdbus's connection.
    private static func authenticate(_ address: String, until end: Int64) throws(DBusError) -> Authenticated {
        _ = dbus_threads_init_default()
        var error = CDBus.DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        guard let raw = dbus_connection_open_private(address, &error) else { throw failure(error) }
        defer {
            dbus_connection_close(raw)
            dbus_connection_unref(raw)
        }
        dbus_connection_set_exit_on_disconnect(raw, 0)
        while dbus_connection_get_is_authenticated(raw) == 0 {
            guard MainLoop.now < end else { throw unanswered }
            guard dbus_connection_read_write(raw, Int32((end - MainLoop.now) / 1000) + 1) != 0 else {
                throw DBusError(.disconnected, "The message bus has ended the connection.")
            }
        }
        guard dbus_connection_get_dispatch_status(raw) != DBUS_DISPATCH_DATA_REMAINS else {
            throw DBusError(.disconnected, "The message bus has sent something before it was asked.")
        }
        var number: Int32 = -1
        guard dbus_connection_get_unix_fd(raw, &number) != 0, let socket = FileDescriptor(duplicating: number)
        else { throw DBusError(.disconnected, "There is no descriptor left for a message bus.") }
        let takesDescriptors = dbus_connection_can_send_type(raw, Int32(TypeCode.fileDescriptor)) != 0
        return Authenticated(socket: socket, takesDescriptors: takesDescriptors)
    }

    private static func failure(_ error: CDBus.DBusError) -> DBusError {
        let text = error.message.map { String(cString: $0) } ?? "no reason given"
        return DBusError(.disconnected, "The message bus cannot be reached: \(text)")
    }

    private static let unanswered = DBusError(
        .disconnected, "The message bus has not answered within \(patience).")

    // MARK: Hello

    /// The number of the first message on a connection.
    private static let serialOfHello: UInt32 = 1

    private static func sayHello(
        _ socket: consuming FileDescriptor, takesDescriptors: Bool, until end: Int64
    ) throws(DBusError) -> Connected {
        let hello = try Message.call(to: Bus.name, "/org/freedesktop/DBus", .bus, "Hello")
        hello.setSerial(serialOfHello)
        let bytes = try hello.marshal()
        // The first bytes on a connection always find room.
        guard handoff_send(socket.number, bytes, bytes.count, nil, 0) == bytes.count else { throw lost }
        var framer = Framer(BusEnd.limits.frames)
        var name: BusName?
        while name == nil {
            try read(from: socket.number, into: &framer, until: end)
            do throws(DBusError) {
                while name == nil, let message = try framer.next() { name = try given(message) }
            } catch {
                throw DBusError(error.name, "The message bus did not accept Hello: \(error.message)")
            }
        }
        guard let name else { throw lost }
        return Connected(name, socket, takesDescriptors: takesDescriptors, framer)
    }

    /// The name in the reply to `Hello`; nil if `message` is another one, which a bus does not send before that.
    private static func given(_ message: Message) throws(DBusError) -> BusName? {
        guard message.replySerial == serialOfHello else { return nil }
        try message.checkBody()
        if let error = message.error { throw error }
        var reader = MessageReader(message)
        return try BusName(try reader.read())
    }

    private static func read(
        from socket: Int32, into framer: inout Framer, until end: Int64
    ) throws(DBusError) {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while true {
            let now = MainLoop.now
            guard now < end else { throw unanswered }
            guard poll(&entry, 1, Int32((end - now) / 1000) + 1) > 0 else { continue }
            var descriptors: [Int32] = []
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = bytes.withUnsafeMutableBytes {
                SocketTransport.receive(from: socket, into: $0, &descriptors)
            }
            bytes.withUnsafeBytes {
                framer.add(UnsafeRawBufferPointer(rebasing: $0[..<max(0, count)]), descriptors)
            }
            guard count > 0 else { throw lost }
            return
        }
    }

    private static let lost = DBusError(.disconnected, "The message bus has ended the connection.")
}

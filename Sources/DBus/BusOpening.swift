// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus
internal import CGio
internal import MainLoop
internal import Platform

/// The way to a bus: connecting, authenticating and Hello, for which libdbus knows only calls that block.
enum BusOpening {
    /// How long a bus may take to answer. One that accepts connections and then says nothing counts as
    /// absent.
    static let patience = Duration.seconds(5)

    /// A connection that nobody uses yet.
    struct Opened: @unchecked Sendable {
        // @unchecked: after dbus_threads_init_default, any thread may use a connection; here one thread uses
        // it after the other.
        let raw: OpaquePointer
    }

    /// Opens a private connection and registers it, on the calling thread.
    /// - Throws: what libdbus says if there is no such bus.
    static func open(_ address: Bus.Address) throws(DBusError) -> OpaquePointer {
        _ = dbus_threads_init_default()
        var error = CDBus.DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        let text: String?
        switch address {
        case .session:
            guard let raw = dbus_bus_get_private(DBUS_BUS_SESSION, &error) else { throw failure(error) }
            return raw
        case .system: text = systemAddress
        case .address(let address): text = address
        }
        guard let raw = dbus_connection_open_private(text ?? "", &error) else { throw failure(error) }
        do throws(DBusError) {
            try sayHello(raw)
            return raw
        } catch {
            dbus_connection_close(raw)
            dbus_connection_unref(raw)
            throw error
        }
    }

    /// Opens a private connection and registers it, on a separate thread.
    @MainLoop
    static func openOnThread(_ address: Bus.Address) async throws -> Opened {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Opened, any Error>) in
            do {
                try BackgroundThread.start("bus opening") {
                    continuation.resume(with: Result { Opened(raw: try open(address)) })
                }
            } catch {
                continuation.resume(
                    throwing: DBusError(.disconnected, "There is no thread for it: \(error)."))
            }
        }
    }

    /// Where the system bus is, according to the environment or by convention. GIO knows this without
    /// connecting.
    private static var systemAddress: String? {
        guard let text = g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SYSTEM, nil, nil) else { return nil }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// The number of the first message on a connection.
    static let serialOfHello: UInt32 = 1

    /// Does what dbus_bus_register() does, except that the latter may wait forever for the other side to
    /// authenticate.
    private static func sayHello(_ raw: OpaquePointer) throws(DBusError) {
        let hello = try Message.call(to: Bus.name, "/org/freedesktop/DBus", .bus, "Hello")
        hello.setSerial(serialOfHello)
        let sent = try BusMessage.made(of: hello)
        defer { dbus_message_unref(sent) }
        guard dbus_connection_send(raw, sent, nil) != 0 else { throw .noMemory() }
        let end = MainLoop.now + Int64(patience / .microseconds(1))
        while MainLoop.now < end {
            let isConnected = dbus_connection_read_write(raw, Int32((end - MainLoop.now) / 1000) + 1) != 0
            while let next = dbus_connection_pop_message(raw) {
                defer { dbus_message_unref(next) }
                guard dbus_message_get_reply_serial(next) == serialOfHello else { continue }
                let message = try BusMessage.received(next)
                if let error = message.error { throw error }
                var reader = MessageReader(message)
                let given = try BusName(try reader.read(String.self))
                guard dbus_bus_set_unique_name(raw, given.text) != 0 else { throw .noMemory() }
                return
            }
            if !isConnected { throw DBusError(.disconnected, "The message bus has ended the connection.") }
        }
        throw DBusError(.disconnected, "The message bus has not answered within \(patience).")
    }

    private static func failure(_ error: CDBus.DBusError) -> DBusError {
        let text = error.message.map { String(cString: $0) } ?? "no reason given"
        return DBusError(.disconnected, "The message bus cannot be reached: \(text)")
    }
}

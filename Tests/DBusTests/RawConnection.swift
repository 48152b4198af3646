// SPDX-License-Identifier: LGPL-2.1-or-later
import CDBus

/// Shows what libdbus and the bus do without our encoder in between.
enum RawConnection {
    /// Sends a signal whose argument is `depth` nested variants, on a separate connection.
    /// - Returns: whether the bus answers a call after that.
    static func survives(_ depth: Int, on address: String) -> Bool {
        guard let connection = dbus_connection_open_private(address, nil) else { return false }
        defer {
            dbus_connection_close(connection)
            dbus_connection_unref(connection)
        }
        dbus_connection_set_exit_on_disconnect(connection, 0)
        guard dbus_bus_register(connection, nil) != 0, let signal = dbus_message_new_signal("/", "a.b", "C")
        else {
            return false
        }
        defer { dbus_message_unref(signal) }
        nest(depth, in: signal)
        dbus_connection_send(connection, signal, nil)
        return dbus_bus_name_has_owner(connection, "org.freedesktop.DBus", nil) != 0
    }

    private static func nest(_ depth: Int, in message: OpaquePointer) {
        let (variant, byte) = (Int32(UInt8(ascii: "v")), Int32(UInt8(ascii: "y")))
        var iterators = Array(repeating: DBusMessageIter(), count: depth + 1)
        iterators.withUnsafeMutableBufferPointer { iterators in
            guard let first = iterators.baseAddress else { return }
            dbus_message_iter_init_append(message, first)
            for level in 0..<depth {
                let contents = level == depth - 1 ? "y" : "v"
                dbus_message_iter_open_container(first + level, variant, contents, first + level + 1)
            }
            var value: UInt8 = 1
            dbus_message_iter_append_basic(first + depth, byte, &value)
            for level in (0..<depth).reversed() {
                dbus_message_iter_close_container(first + level, first + level + 1)
            }
        }
    }
}

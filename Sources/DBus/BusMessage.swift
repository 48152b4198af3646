// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus

/// The gate between messages and libdbus, which takes them to a bus and brings them from there.
enum BusMessage {
    /// The message that libdbus has received, which it has checked.
    /// - Throws: if it is of a kind that this version of D-Bus does not know, or there is no memory for it.
    static func received(_ raw: OpaquePointer) throws(DBusError) -> Message {
        let message = try Message.reading(try bytes(of: raw))
        if dbus_message_contains_unix_fds(raw) != 0 { message.descriptors = try descriptors(raw, message) }
        return message
    }

    /// A message of libdbus as the bytes that it takes.
    private static func bytes(of raw: OpaquePointer) throws(DBusError) -> [UInt8] {
        var (start, length): (UnsafeMutablePointer<CChar>?, Int32) = (nil, 0)
        guard dbus_message_marshal(raw, &start, &length) != 0, let start else { throw .noMemory() }
        defer { dbus_free(start) }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(length)))
    }

    /// `message`, which has a serial number, for libdbus to send.
    /// - Returns: a reference that the caller has to free.
    static func made(of message: Message) throws(DBusError) -> OpaquePointer {
        let hasDescriptors = message.containsFileDescriptors
        let bytes = try message.marshal(limit: Message.maximumLength, withBody: !hasDescriptors)
        var error = CDBus.DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        let raw = bytes.withUnsafeBytes {
            dbus_message_demarshal($0.bindMemory(to: CChar.self).baseAddress, Int32($0.count), &error)
        }
        guard let raw else {
            throw .invalidArgs(error.message.map { String(cString: $0) } ?? "The message is malformed.")
        }
        guard hasDescriptors else { return raw }
        var (reader, appending) = (MessageReader(message), DBusMessageIter())
        dbus_message_iter_init_append(raw, &appending)
        do throws(DBusError) {
            try copy(&reader, to: &appending, message.descriptors)
            return raw
        } catch {
            dbus_message_unref(raw)
            throw error
        }
    }
}

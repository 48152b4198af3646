// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import TestSupport

/// Messages that never see a bus.
enum Messages {
    /// A call with a serial number, whose arguments `body` writes.
    static func call(
        serial: UInt32 = 1,
        _ body: (inout MessageWriter) throws(DBusError) -> Void = { (_) throws(DBusError) in }
    ) throws(DBusError) -> Message {
        let message = try Message.call(to: nil, "/test", "org.example.Test", "Test")
        var writer = MessageWriter(message)
        try body(&writer)
        message.setSerial(serial)
        return message
    }

    /// A call with `values` as its arguments, none of them in a variant.
    static func call(of values: [Value]) throws(DBusError) -> Message {
        try call { (writer) throws(DBusError) in
            for value in values { try writer.writeContent(of: value) }
        }
    }

    /// `message` as it arrives at the other end of a channel.
    static func sent(_ message: Message) throws(DBusError) -> Message { try .demarshal(message.marshal()) }

    /// All arguments of `message`.
    static func arguments(of message: Message) throws -> [Value] {
        var reader = MessageReader(message)
        return try Signature(message.signature).types.map { (_) throws(DBusError) in try reader.readAnyValue()
        }
    }

    /// The length of the body of a message that is marshalled as `bytes` in this machine's byte order.
    static func bodyLength(_ bytes: [UInt8]) -> Int {
        bytes[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}

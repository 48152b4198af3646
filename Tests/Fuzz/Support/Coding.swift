// SPDX-License-Identifier: LGPL-2.1-or-later
@testable package import DBus

extension Message {
    /// The message that `bytes` hold, exactly, as it arrives; without descriptors, and of a known type.
    package static func demarshal(
        _ bytes: [UInt8], limit: Int = Message.maximumLength
    ) throws(DBusError) -> Message {
        var framer = Framer(Framer.Limits(header: limit, message: limit))
        bytes.withUnsafeBytes { framer.add($0) }
        guard let message = try framer.next(), !framer.isWithinMessage, message.kind != nil else {
            throw .invalidArgs("\(bytes.count) bytes are not one message")
        }
        try message.checkBody()
        return message
    }
}

/// Values as the arguments of a message, there and back.
package enum Coding {
    /// A call with `values` as its arguments, none of them in a variant, as bytes.
    package static func encode(_ values: [Value]) throws(DBusError) -> [UInt8] {
        let message = try Message.call(to: nil, "/", "a.b", "C")
        var writer = MessageWriter(message)
        for value in values { try writer.writeContent(of: value) }
        message.setSerial(1)
        return try message.marshal()
    }

    /// The arguments of the message that `bytes` are.
    package static func decode(_ bytes: [UInt8]) throws(DBusError) -> [Value] {
        try arguments(of: Message.demarshal(bytes))
    }

    /// The arguments of `message`.
    package static func arguments(of message: Message) throws(DBusError) -> [Value] {
        var (reader, values): (MessageReader, [Value]) = (MessageReader(message), [])
        while !reader.isAtEnd { values.append(try reader.readAnyValue()) }
        return values
    }

    /// The body of the message in this machine's byte order that `bytes` are.
    package static func body(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes.suffix(bytes[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) })
    }

    /// Checks that `bytes` are the encoded `values`, and that they take as many bytes as was predicted.
    ///
    /// Values are compared as bytes, since NaN does not equal itself.
    package static func check(_ bytes: [UInt8], are values: [Value]) {
        var size = MarshalledSize()
        for value in values { size.add(value) }
        let body = body(bytes)
        require(size.bytes == body.count, "\(values) take \(body.count) bytes, not \(size.bytes)")
        let decoded = require("what was encoded cannot be decoded") { try decode(bytes) }
        let again = require("what was decoded cannot be encoded") { try encode(decoded) }
        require(again == bytes, "\(decoded) were \(values)")
    }
}

import FuzzSupport

// SPDX-License-Identifier: LGPL-2.1-or-later
@testable import DBus

/// Bytes that claim to be a message.
enum MessageTest {
    private static let limit = 1 << 20

    static func run(_ bytes: [UInt8]) {
        check(bytes)
        guard let first = bytes.first else { return }
        if ["l", "B"].contains(Unicode.Scalar(first)) {
            check(withFittingLength(bytes))
        } else {
            check(withHeader(bytes))
        }
    }

    // MARK: Inputs

    /// `bytes`, with the field for the length set to their actual length.
    private static func withFittingLength(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 16 else { return bytes }
        let isLittle = bytes[0] == UInt8(ascii: "l")
        let fields = bytes[12..<16]
        let length = (isLittle ? Array(fields.reversed()) : Array(fields)).reduce(0) { $0 << 8 | Int($1) }
        let header = (16 + length + 7) & ~7
        guard header <= bytes.count else { return bytes }
        var bytes = bytes
        write(bytes.count - header, at: 4, isLittle: isLittle, in: &bytes)
        return bytes
    }

    /// A call with `bytes` as its signature and its body.
    private static func withHeader(_ bytes: [UInt8]) -> [UInt8] {
        var choices = Choices(bytes)
        let isLittle = choices.byte() & 1 == 0
        let (signature, body) = (choices.bytes(atMost: 63), choices.rest())
        var message = [UInt8(ascii: isLittle ? "l" : "B"), 1, 0, 1] + Array(repeating: 0, count: 12)
        // The fields: path and member, which each take 16 bytes, and signature.
        for (code, type, text) in [(1, "o", "/"), (3, "s", "M")] as [(UInt8, Unicode.Scalar, Unicode.Scalar)]
        {
            message += [code, 1, UInt8(ascii: type), 0, 0, 0, 0, 0, UInt8(ascii: text), 0, 0, 0, 0, 0, 0, 0]
            write(1, at: message.count - 12, isLittle: isLittle, in: &message)
        }
        message += [8, 1, UInt8(ascii: "g"), 0, UInt8(signature.count)] + signature + [0]
        write(1, at: 8, isLittle: isLittle, in: &message)
        write(message.count - 16, at: 12, isLittle: isLittle, in: &message)
        message += Array(repeating: 0, count: -message.count & 7)
        write(body.count, at: 4, isLittle: isLittle, in: &message)
        return message + body
    }

    private static func write(_ number: Int, at index: Int, isLittle: Bool, in bytes: inout [UInt8]) {
        for byte in 0..<4 {
            bytes[index + byte] = UInt8(truncatingIfNeeded: number >> (isLittle ? 8 * byte : 24 - 8 * byte))
        }
    }

    // MARK: Checks

    private static func check(_ bytes: [UInt8]) {
        guard let message = try? Message.demarshal(bytes, limit: limit) else { return }
        require(message.length == bytes.count, "\(message.length), but there are \(bytes.count) bytes")
        checkHeader(of: message)
        checkArguments(of: message, bytes)
        readTyped(message)
        answer(message)
    }

    private static func checkHeader(of message: Message) {
        require(
            message.kind != nil && message.serial != 0,
            "\(String(describing: message.kind)), \(message.serial)")
        require(!message.containsFileDescriptors, "it has descriptors")
        require(Signature.isValid(message.signature), "\(message.signature) is no signature")
        require(!message.signature.contains("h"), "\(message.signature) names a descriptor")
        require(message.path.map { ObjectPathGrammar.isValid($0.text) } ?? true, "\(message.path ?? "/")")
        require(message.interface.map(InterfaceNameGrammar.isValid) ?? true, message.interface ?? "")
        require(message.member.map(MemberNameGrammar.isValid) ?? true, message.member ?? "")
        require(message.sender.map { BusNameGrammar.isValid($0.text) } ?? true, message.sender?.text ?? "")
        require(message.destination.map(BusNameGrammar.isValid) ?? true, message.destination ?? "")
        _ = (message.replySerial, message.wantsReply, message.uniqueDestination)
        if let error = message.error {
            require(message.kind == .error && ErrorNameGrammar.isValid(error.name.text), "\(error)")
        } else {
            require(message.kind != .error, "an error without a name")
        }
    }

    private static func checkArguments(of message: Message, _ bytes: [UInt8]) {
        let values = require("what libdbus has checked cannot be read") { try Coding.arguments(of: message) }
        let signatures = values.map(\.typeSignature)
        require(signatures.joined() == message.signature, "\(signatures) are not \(message.signature)")
        require(require("types") { try Signature(message.signature).types } == signatures, "\(signatures)")
        let again = require("what was read cannot be sent on") { try Coding.encode(values) }
        Coding.check(again, are: values)
        checkPacked(message, values, again)
        // There is only one way to write values in this machine's byte order.
        guard bytes.first == UInt8(ascii: "l") else { return }
        require(Coding.body(bytes) == Coding.body(again), "\(values) were sent on as something else")
    }

    /// Properties that are copied are the bytes that they would be if they were read and written again, which is `again`.
    private static func checkPacked(_ message: Message, _ values: [Value], _ again: [UInt8]) {
        let copy = require("properties cannot be copied") { () throws(DBusError) in
            var reader = MessageReader(message)
            let copy = try Message.call(to: nil, "/", "a.b", "C")
            var writer = MessageWriter(copy)
            for value in values {
                guard value.typeSignature == PackedProperties.typeSignature else {
                    try reader.skip()
                    try writer.writeContent(of: value)
                    continue
                }
                let packed = try reader.read(PackedProperties.self)
                let keys = try packed.unpacked().keys
                require(Set(keys) == Set(value.properties?.keys.map { $0 } ?? []), "\(value) has other keys")
                try writer.write(packed)
            }
            copy.setSerial(1)
            return try copy.marshal()
        }
        require(Coding.body(copy) == Coding.body(again), "\(values) differ as copies")
    }

    private static func readTyped(_ message: Message) {
        func read<Type: DBusType>(_: Type.Type) {
            var reader = MessageReader(message)
            while !reader.isAtEnd {
                guard (try? reader.read(Type.self)) != nil else { return }
            }
        }
        read([String: Value].self)
        read([Structure<String, [UInt8]>].self)
        read([String: [String: String]].self)
        read(Value.self)
        read(String.self)
    }

    private static func answer(_ message: Message) {
        let reply = require("no reply") { try Message.reply(to: message) }
        let error = require("no error") { try Message.error(message.error ?? .invalidArgs("a"), to: message) }
        for answer in [reply, error] {
            answer.setSerial(1)
            let bytes = require("an answer that cannot be sent") { try answer.marshal() }
            let decoded = require("an answer that cannot be decoded") { try Message.demarshal(bytes) }
            require(decoded.replySerial == message.serial, "an answer to another message")
        }
    }
}

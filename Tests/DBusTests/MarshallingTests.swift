// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import TestSupport
import Testing

@Suite("Messages as bytes", .timeLimit(.minutes(2)))
struct MarshallingTests {
    private func sample() throws -> [UInt8] {
        try Messages.call(serial: 9) { (writer) throws(DBusError) in
            try writer.write("text")
            try writer.write(["a": Value.strings(["b"]), "c": .variant(.uint32(1))])
        }.marshal()
    }

    @Test("a message keeps its kind, header and arguments")
    func header() throws {
        let call = try Message.call(to: "org.example.Destination", "/a/b", "org.example.Interface", "Member")
        call.setSerial(77)
        let got = try Messages.sent(call)
        #expect(got.kind == .call && got.serial == 77 && got.wantsReply)
        #expect(got.path == "/a/b" && got.interface == "org.example.Interface" && got.member == "Member")
        #expect(got.destination == "org.example.Destination" && got.sender == nil && got.signature.isEmpty)

        let reply = try Message.reply(to: got)
        reply.setSerial(1)
        let answer = try Messages.sent(reply)
        #expect(answer.kind == .reply && answer.replySerial == 77)

        let failure = try Message.error(DBusError("org.example.Odd", "odd\0 text"), to: got)
        failure.setSerial(2)
        let error = try Messages.sent(failure)
        #expect(error.kind == .error && error.error == DBusError("org.example.Odd", "odd text"))

        let signal = try Message.signal(from: "/s", "org.example.Interface", "Signal")
        signal.setSerial(3)
        #expect(try Messages.sent(signal).kind == .signal)
    }

    @Test("a message without a serial number is not marshalled, nor answered")
    func serial() throws {
        let message = try Message.call(to: nil, "/a", "a.b", "C")
        message.setSerial(0)
        #expect(throws: DBusError.self) { try message.marshal() }
        #expect(throws: DBusError.self) { try Message.reply(to: message) }
        #expect(throws: DBusError.self) { try Message.error(.invalidArgs("x"), to: message) }
    }

    @Test("a message may be marshalled again, and given another serial number in between")
    func again() throws {
        let message = try Messages.call(serial: 1)
        #expect(try message.marshal() == message.marshal())
        message.setSerial(2)
        #expect(try Messages.sent(message).serial == 2)
    }

    @Test("a message that is longer than the limit is refused, and is not marshalled")
    func limit() throws {
        let bytes = try sample()
        #expect(throws: DBusError.self) { try Message.demarshal(bytes, limit: bytes.count - 1) }
        let message = try Message.demarshal(bytes, limit: bytes.count)
        #expect(throws: DBusError.self) { try message.marshal(limit: bytes.count - 1) }
        #expect(try message.marshal(limit: bytes.count) == bytes)
    }

    @Test(
        "absurd lengths in the header are refused",
        arguments: [0x0800_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff])
    func absurdLengths(_ length: UInt32) throws {
        for offset in [4, 12] {
            var bytes = try sample()
            for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
            #expect(throws: DBusError.self) { try Message.demarshal(bytes) }
        }
    }

    @Test("what is cut off or followed by more is refused")
    func wrongLength() throws {
        let bytes = try sample()
        for count in 0..<bytes.count {
            #expect(throws: DBusError.self) { try Message.demarshal(Array(bytes[..<count])) }
        }
        #expect(throws: DBusError.self) { try Message.demarshal(bytes + [0]) }
        #expect(throws: DBusError.self) { try Message.demarshal(bytes + bytes) }
        #expect(throws: DBusError.self) { try Message.demarshal([]) }
    }

    @Test("unknown types, versions, byte orders and a serial number of 0 are refused")
    func badHeader() throws {
        let bytes = try sample()
        for (offset, value) in [(0, 0), (0, 0x4c), (1, 0), (1, 5), (1, 9), (1, 255), (3, 0), (3, 2), (8, 0)] {
            var bad = bytes
            bad[offset] = UInt8(value)
            #expect(throws: DBusError.self, "\(offset) \(value)") { try Message.demarshal(bad) }
        }
        #expect(throws: Never.self) { try Message.demarshal(bytes) }
    }

    @Test("the other byte order is understood")
    func byteOrder() throws {
        // A call of / a.b.C with the arguments 258 (u), [1, 2] (ay) and 3 (x).
        let padding = Array(repeating: UInt8(0), count: 6)
        let body: [UInt8] = [0, 0, 1, 2, 0, 0, 0, 2, 1, 2] + padding + [0, 0, 0, 0, 0, 0, 0, 3]
        let bytes = BigEndian.call(serial: 7, "/", "a.b", "C", "uayx", body)
        let message = try Message.demarshal(bytes)
        #expect(message.serial == 7 && message.member == "C")
        #expect(try Messages.arguments(of: message) == [.uint32(258), .bytes([1, 2]), .int64(3)])
    }

    @Test("descriptors that have not come are refused, wherever they hide")
    func descriptors() throws {
        let index: [UInt8] = [0, 0, 0, 0]
        let bodies: [(String, [UInt8])] = [
            ("h", index), ("ah", [0, 0, 0, 0]), ("ah", [0, 0, 0, 4] + index),
            ("(sh)", [0, 0, 0, 0, 0, 0, 0, 0] + index),
            ("a{sh}", [0, 0, 0, 0, 0, 0, 0, 0]), ("v", [1, 0x68, 0, 0] + index),
            ("v", [2, 0x61, 0x68, 0] + index),
            ("v", [1, 0x76, 0, 1, 0x68, 0, 0, 0] + index), ("av", [0, 0, 0, 8, 1, 0x68, 0, 0] + index),
            ("(v)", [1, 0x68, 0, 0] + index),
            ("a{sv}", [0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 1, 0x61, 0, 1, 0x68, 0, 0, 0, 0] + index),
            ("v", [4, 0x61, 0x28, 0x76, 0x29, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 1, 0x68, 0, 0] + index),
        ]
        for (signature, body) in bodies {
            let bytes = BigEndian.call(serial: 1, "/", "a.b", "C", signature, body)
            let error = #expect(throws: DBusError.self, "\(signature)") { try Message.demarshal(bytes) }
            #expect(error?.message.contains("descriptor") == true, "\(signature): \(error?.message ?? "")")
        }
    }

    @Test(
        "the names that D-Bus reserves are not sent, nor those that begin like them",
        arguments: ["", "i", "ity_1"])
    func reserved(end: String) throws {
        let path = try ObjectPath("/org/freedesktop/DBus/Local\(end)")
        let interface = try InterfaceName("org.freedesktop.DBus.Local\(end)")
        #expect(throws: DBusError.self) { try Message.call(to: nil, path, "a.b", "C") }
        #expect(throws: DBusError.self) { try Message.call(to: nil, "/", interface, "C") }
        #expect(throws: DBusError.self) { try Message.signal(from: path, "a.b", "C") }
        #expect(throws: DBusError.self) { try Message.signal(from: "/", interface, "C") }
    }

    @Test(
        "of what comes only messages with exactly the names that D-Bus reserves are refused",
        arguments: ["", "i", "ity_1", ".Sub"])
    func reservedComing(end: String) throws {
        let interface = "org.freedesktop.DBus.Local\(end)"
        let path = "/org/freedesktop/DBus/Local\(end.replacing(".", with: "/"))"
        for (path, interface) in [(path, "a.b"), ("/", interface)] {
            let message = try? Message.demarshal(BigEndian.call(serial: 1, path, interface, "C", "", []))
            #expect((message == nil) == end.isEmpty, "\(path) \(interface)")
        }
    }

    @Test("a signature has at most 255 characters, however many arguments are written")
    func longSignature() throws {
        #expect(throws: Never.self) {
            try Messages.sent(Messages.call(of: Array(repeating: .byte(1), count: 255)))
        }
        #expect(throws: DBusError.self) { try Messages.call(of: Array(repeating: .byte(1), count: 256)) }
        let wide = try Value.structure(Array(repeating: .byte(1), count: 253))
        #expect(throws: Never.self) { try Messages.sent(Messages.call(of: [wide])) }
        #expect(throws: DBusError.self) { try Messages.call(of: [wide, .byte(1)]) }
        let wider = try Value.structure(Array(repeating: .byte(1), count: 300))
        for value in [wider, .variant(wider), .properties(["a": wider])] {
            #expect(throws: DBusError.self) { try Messages.call(of: [value]) }
        }
    }

    @Test("a body of more than 64 MiB is refused")
    func longBody() throws {
        let large = Value.bytes(Array(repeating: 0, count: 1 << 25))
        #expect(throws: Never.self) { try Messages.call(of: [large]) }
        let error = try #require(throws: DBusError.self) { try Messages.call(of: [large, large]) }
        #expect(error.name == .limitsExceeded)
    }
}

/// Messages in big-endian byte order, made without libdbus.
enum BigEndian {
    static func call(
        serial: UInt8, _ path: String, _ interface: String, _ member: String, _ signature: String,
        _ body: [UInt8]
    ) -> [UInt8] {
        var fields: [UInt8] = []
        for (code, type, text) in [(1, "o", path), (2, "s", interface), (3, "s", member)] {
            pad(&fields, to: 8)
            fields +=
                [UInt8(code), 1] + Array(type.utf8) + [0, 0, 0, 0, UInt8(text.utf8.count)] + Array(text.utf8)
                + [0]
        }
        pad(&fields, to: 8)
        fields += [8, 1, 0x67, 0, UInt8(signature.utf8.count)] + Array(signature.utf8) + [0]
        var bytes: [UInt8] = [
            0x42, 1, 0, 1, 0, 0, 0, UInt8(body.count), 0, 0, 0, serial, 0, 0, 0, UInt8(fields.count),
        ]
        bytes += fields
        pad(&bytes, to: 8)
        return bytes + body
    }

    private static func pad(_ bytes: inout [UInt8], to boundary: Int) {
        while bytes.count % boundary != 0 { bytes.append(0) }
    }
}

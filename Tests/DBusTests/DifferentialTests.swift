// SPDX-License-Identifier: LGPL-2.1-or-later
import CDBus
import LibdbusReference
import TestSupport
import Testing

@testable import DBus

@Suite("Beside libdbus", .timeLimit(.minutes(2)))
struct DifferentialTests {
    @Test("values are written as libdbus writes them", arguments: 0..<8)
    func writing(seed: UInt64) throws {
        var random = Seeded(seed)
        for _ in 0..<200 {
            let values = (0..<random.below(4)).compactMap { _ in try? random.value() }
            let message = try Message.call(to: nil, "/", "a.b", "C")
            message.setSerial(1)
            var writer = MessageWriter(message)
            for value in values { try writer.writeContent(of: value) }
            #expect(try message.marshal() == Libdbus.call(of: values), "\(values)")
            #expect(try message.marshalledSize == message.marshal().count)
        }
    }

    @Test("headers are written as libdbus writes them")
    func headers() throws {
        func check(_ message: Message, _ reference: OpaquePointer?) throws {
            let reference = try #require(reference)
            defer { dbus_message_unref(reference) }
            message.setSerial(3)
            dbus_message_set_serial(reference, 3)
            #expect(try message.marshal() == Libdbus.bytes(reference))
        }
        for destination in [nil, ":1.7", "org.example.Name"] as [BusName?] {
            try check(
                Message.call(to: destination, "/a/b", "org.example.I", "M"),
                dbus_message_new_method_call(destination?.text, "/a/b", "org.example.I", "M"))
        }
        try check(
            Message.signal(from: "/a", "org.example.I", "S"),
            dbus_message_new_signal("/a", "org.example.I", "S"))
        let call = try #require(dbus_message_new_method_call(nil, "/", "a.b", "C"))
        defer { dbus_message_unref(call) }
        dbus_message_set_serial(call, 9)
        for sender in [nil, ":1.42"] {
            if let sender { dbus_message_set_sender(call, sender) }
            let ours = try Message.demarshal(Libdbus.bytes(call))
            try check(Message.reply(to: ours), dbus_message_new_method_return(call))
            try check(
                Message.error(.invalidArgs("why"), to: ours),
                dbus_message_new_error(call, ErrorName.invalidArgs.text, "why"))
        }
    }

    @Test("whatever libdbus refuses is refused, and whatever it takes is read as the same", arguments: 0..<8)
    func reading(seed: UInt64) throws {
        var random = Seeded(seed &+ 100)
        var (taken, refused) = (0, 0)
        for _ in 0..<1500 {
            var bytes = try FuzzTests.samples(&random)
            if random.below(3) == 0 { bytes = BigEndian.swapped(bytes) }
            if random.below(4) != 0 { FuzzTests.mutate(&bytes, &random) }
            let message = try? Message.demarshal(bytes)
            if let message, Libdbus.refusesBeginning(of: message) { continue }
            try #require((message != nil) == Libdbus.takes(bytes), "\(bytes)")
            guard let message, let reference = Libdbus.message(bytes) else {
                refused += 1
                continue
            }
            defer { dbus_message_unref(reference) }
            taken += 1
            #expect(try Libdbus.ours(message) == Libdbus.description(of: reference), "\(bytes)")
            #expect(message.serial == dbus_message_get_serial(reference))
            #expect(message.replySerial == dbus_message_get_reply_serial(reference))
            #expect(message.path?.text == dbus_message_get_path(reference).map { String(cString: $0) })
            #expect(message.interface == dbus_message_get_interface(reference).map { String(cString: $0) })
            #expect(message.member == dbus_message_get_member(reference).map { String(cString: $0) })
            #expect(
                message.destination == dbus_message_get_destination(reference).map { String(cString: $0) })
            #expect(message.sender?.text == dbus_message_get_sender(reference).map { String(cString: $0) })
            #expect(message.wantsReply == (dbus_message_get_no_reply(reference) == 0))
        }
        #expect(taken > 100 && refused > 100)
    }

    /// Records an issue unless both say the same. To expect each of so many would take most of the time.
    private func compare(_ ours: Bool, _ theirs: dbus_bool_t, _ text: String) {
        if ours != (theirs != 0) { Issue.record("“\(text)” is \(ours ? "taken" : "refused")") }
    }

    private func compareName(_ text: String) {
        compare(ObjectPathGrammar.isValid(text), dbus_validate_path(text, nil), text)
        compare(InterfaceNameGrammar.isValid(text), dbus_validate_interface(text, nil), text)
        compare(MemberNameGrammar.isValid(text), dbus_validate_member(text, nil), text)
        compare(BusNameGrammar.isValid(text), dbus_validate_bus_name(text, nil), text)
        compare(ErrorNameGrammar.isValid(text), dbus_validate_error_name(text, nil), text)
    }

    private func compareSignature(_ text: String) {
        compare(Signature.isValid(text), dbus_signature_validate(text, nil), text)
        compare(Signature.isSingle(text), dbus_signature_validate_single(text, nil), text)
    }

    @Test("names are those of libdbus", arguments: 0..<4)
    func names(seed: UInt64) {
        var random = Seeded(seed)
        let characters = Array("/.:-_aZ09é ")
        for _ in 0..<20_000 {
            compareName(
                String((0..<random.below(8)).map { _ in characters[random.below(characters.count)] }))
        }
        for count in 250...260 {
            let word = String(repeating: "b", count: count)
            for text in [word, "/" + word, "a." + word.dropFirst(2), ":" + word.dropFirst()] {
                compareName(text)
            }
        }
    }

    @Test("signatures are those of libdbus", arguments: 0..<4)
    func signatures(seed: UInt64) {
        var random = Seeded(seed)
        let codes = Array("asvh(){}{}a(yr")
        for _ in 0..<20_000 {
            compareSignature(String((0..<random.below(9)).map { _ in codes[random.below(codes.count)] }))
            compareSignature(random.type(depth: 6))
        }
        for count in 0...70 {
            func times(_ text: String) -> String { String(repeating: text, count: count) }
            for text in [
                times("a") + "s", times("(") + "y" + times(")"), times("a(") + "y" + times(")"),
                times("a{s") + "y" + times("}"),
            ] { compareSignature(text) }
        }
        for count in 250...260 { compareSignature(String(repeating: "y", count: count)) }
    }

    @Test("text is what libdbus takes for text")
    func text() {
        let parts: [[UInt8]] = [
            [0x41], [0], [0x7f], [0x80], [0xc2, 0x80], [0xc0, 0x80], [0xe0, 0x80, 0x80], [0xed, 0x9f, 0xbf],
            [0xed, 0xa0, 0x80], [0xef, 0xbf, 0xbf], [0xef, 0xbf, 0xbe], [0xef, 0xb7, 0x90],
            [0xf0, 0x9f, 0x98, 0x80], [0xf4, 0x8f, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80], [0xf8, 0x88],
            [0xff],
        ]
        for first in parts {
            for second in parts {
                let text = [0x61] + first + second + [0x62]
                let body = [0, 0, 0, UInt8(text.count)] + text + [0]
                let bytes = BigEndian.call(serial: 1, "/", "a.b", "C", "s", body)
                #expect(((try? Message.demarshal(bytes)) != nil) == Libdbus.takes(bytes), "\(text)")
            }
        }
    }
}

extension BigEndian {
    /// `bytes`, a message with the least significant byte of a number first, the other way around.
    static func swapped(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 16, let message = try? Message.demarshal(bytes) else { return bytes }
        var result = bytes
        result[0] = 0x42
        for start in [4, 8, 12] { result[start..<start + 4].reverse() }
        var header = MarshalledInput(bytes, isBigEndian: false, 0..<bytes.count)
        swap(&header, "(yyyyuua(yv))", &result)
        var body = message.input
        for type in (try? Signature(message.signature).types) ?? [] { swap(&body, type, &result) }
        return result
    }

    /// Swaps the numbers of a value of the type `signature`.
    private static func swap(_ input: inout MarshalledInput, _ signature: String, _ result: inout [UInt8]) {
        let code = signature.utf8.first ?? 0
        func reverse(_ size: Int) {
            guard (try? input.align(size)) != nil, input.offset + size <= input.bytes.count else { return }
            if input.offset >= 16 { result[input.offset..<input.offset + size].reverse() }
            input.offset += size
        }
        func length() {
            guard (try? input.align(4)) != nil else { return }
            let start = input.offset
            reverse(4)
            input.offset = start
        }
        switch code {
        case TypeCode.string, TypeCode.objectPath:
            length()
            _ = try? input.text()
        case TypeCode.signature: _ = try? input.shortText()
        case TypeCode.variant:
            guard let range = try? input.shortText() else { return }
            swap(&input, String(decoding: input.bytes[range], as: UTF8.self), &result)
        case TypeCode.array:
            length()
            let element = String(signature.dropFirst())
            guard let end = try? input.array(of: element.utf8.first ?? 0) else { return }
            while input.offset < end { swap(&input, element, &result) }
        case TypeCode.structure, TypeCode.dictionaryEntry:
            try? input.align(8)
            for type in (try? Signature(String(signature.dropFirst().dropLast())).types) ?? [] {
                swap(&input, type, &result)
            }
        default: reverse(TypeCode.fixedSize(of: code) ?? 1)
        }
    }
}

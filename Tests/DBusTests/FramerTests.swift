// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import LibdbusReference
import TestSupport
import Testing

@testable import DBus

/// A call with `text` as its argument.
private func call(_ text: String, serial: UInt32 = 1) throws -> [UInt8] {
    try Messages.call(serial: serial) { (writer) throws(DBusError) in try writer.write(text) }.marshal()
}

/// A call that says that `count` descriptors come with it, and has their numbers as its arguments.
private func call(announcing count: Int, serial: UInt32 = 1) throws -> [UInt8] {
    try Messages.call(serial: serial) { (writer) throws(DBusError) in
        for _ in 0..<count { try writer.write(FileDescriptor(owning: dup(0))) }
    }.marshal()
}

/// Where the header of a message ends.
private func headerSize(_ bytes: [UInt8]) throws -> Int {
    try #require(MessageStart(bytes[...])).bodyStart
}

/// The header of a message whose body has `body` bytes, and whose fields have `claimed` bytes, as it says.
private func header(
    order: UInt8 = UInt8(ascii: "l"), kind: UInt8 = 2, version: UInt8 = 1, serial: Int = 9,
    fields: [UInt8], claimed: Int? = nil, body: Int = 100
) -> [UInt8] {
    func number(_ value: Int) -> [UInt8] {
        let little = (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return order == UInt8(ascii: "B") ? little.reversed() : little
    }
    var bytes = [order, kind, 0, version]
    for value in [body, serial, claimed ?? fields.count] { bytes += number(value) }
    bytes += fields
    while bytes.count % 8 != 0 { bytes.append(0) }
    return bytes
}

/// The field with the serial number of the call that is answered.
private func answers(_ serial: [UInt8], field: UInt8 = 5, type: Character = "u") -> [UInt8] {
    [field, 1, type.asciiValue ?? 0, 0] + serial
}

private let answersOne = answers([1, 0, 0, 0])

private func refuse(_ message: Message) throws(DBusError) -> Framer.Verdict { throw .invalidArgs("it did") }

// This file is long because all ways in which bytes can come are tried on one harness.
@Suite("Cutting what comes into messages")
struct FramerTests {
    @Test("messages are cut out of the stream, however it arrives", arguments: [1, 2, 15, 16, 17, 100, 5000])
    func pieces(size: Int) throws {
        let texts = ["a", "", String(repeating: "x", count: 4000), "b"]
        let messages = try texts.map { try call($0) }
        let cut = Cut([Sent(messages.joined())], in: size)
        #expect(cut.messages == messages && cut.texts == texts)
        #expect(cut.judged.map(\.length) == messages.map(\.count))
        #expect(cut.error == nil && !cut.isWithinMessage)
    }

    @Test("many messages that come at once are cut out too, and so is one that they end with half of")
    func many() throws {
        let message = try call(String(repeating: "x", count: 4000))
        let stream = [[UInt8]](repeating: message, count: 100).flatMap { $0 }
        for missing in [1, 3000, message.count - 20, message.count - 1] {
            let cut = Cut([Sent(stream.dropLast(missing)), Sent(stream.suffix(missing)), Sent(message)])
            #expect(cut.messages == [[UInt8]](repeating: message, count: 101))
        }
    }

    @Test("it is known whether the rest of a message is to come, also of one that is passed over")
    func within() throws {
        let messages = try [call("a"), call("passed over", serial: 2), call("b")]
        var framer = Framer(Cut.links)
        var (stream, ends): ([UInt8], Set<Int>) = ([], [])
        for message in messages {
            stream += message
            ends.insert(stream.count)
        }
        for (place, byte) in stream.enumerated() {
            framer.add([byte])
            _ = try framer.next { $0.serial == 2 ? .passOver : .take }
            let isWithin = framer.isWithinMessage
            #expect(isWithin == !ends.contains(place + 1), "\(place)")
        }
    }

    @Test(
        "a message, and its header, are taken up to the limit, one byte more is refused at the first 16 bytes",
        arguments: [1 << 14, 320 << 10])
    func limits(length: Int) throws {
        let bytes = try call(String(repeating: "x", count: length - call("").count))
        #expect(bytes.count == length)
        let size = try headerSize(bytes)
        let beginning = Sent(bytes.prefix(MessageStart.size))
        let taken = Framer.Limits(header: size, message: length)
        #expect(Cut([beginning], taken).error == nil)
        #expect(Cut([Sent(bytes)], taken).messages == [bytes])
        for (limits, most) in [
            (Framer.Limits(header: size - 1, message: length), size - 1),
            (Framer.Limits(header: size, message: length - 1), length - 1),
        ] {
            let cut = Cut([beginning], limits)
            #expect(cut.error?.name == .invalidArgs && cut.judged.isEmpty)
            #expect(cut.error?.message.contains("more than the \(most) allowed") == true)
        }
    }

    @Test(
        "where what is too long is passed over, that is done however it arrives, and nobody is asked about it",
        arguments: [1, 7, 1000, 70_000])
    func longer(size: Int) throws {
        let limits = Framer.Limits(header: 2048, message: 50_000, passesOverBad: true)
        let odd = try Message.call(to: nil, ObjectPath("/" + String(repeating: "x", count: 3000)), "a.b", "C")
        odd.setSerial(1)
        let wanted = try call("wanted")
        for long in try [call(String(repeating: "x", count: 60_000)), odd.marshal()] {
            let cut = Cut([Sent(long + wanted + long)], in: size, limits)
            #expect(cut.messages == [wanted] && cut.judged.count == 1)
            #expect(cut.error == nil && !cut.isWithinMessage)
        }
    }

    @Test("on a bus a header that is none costs its message alone; elsewhere nothing follows it")
    func badHeaders() throws {
        let (wanted, good) = (try call("wanted"), try call("good"))
        for place in [3, 8, 16] {
            var bad = good
            // Another version, no serial number, a field with the number 0.
            for index in place..<place + (place == 8 ? 4 : 1) { bad[index] = 0 }
            let bus = Framer.Limits(header: 2048, message: 50_000, passesOverBad: true)
            let cut = Cut([Sent(wanted + bad + wanted)], bus)
            #expect(cut.messages == [wanted, wanted] && cut.error == nil && !cut.isWithinMessage)
            let strict = Cut([Sent(wanted + bad + wanted)], Framer.Limits(header: 2048, message: 50_000))
            #expect(strict.messages == [wanted] && strict.error?.name == .invalidArgs)
        }
    }

    @Test("what is refused says why, as soon as its header is there, and not before")
    func refusal() throws {
        let bytes = try call("long enough")
        let size = try headerSize(bytes)
        let before = Cut([Sent(bytes.prefix(size - 1))], Cut.links, refuse)
        #expect(before.error == nil && before.judged.isEmpty)
        let after = Cut([Sent(bytes.prefix(size))], Cut.links, refuse)
        #expect(after.error?.message == "it did")
    }

    @Test(
        "what is passed over is judged once, and left out, however it arrives",
        arguments: [1, 7, 1000, 70_000])
    func skipping(size: Int) throws {
        let long = try call(String(repeating: "x", count: 60_000))
        let wanted = try call("wanted")
        let cut = Cut([Sent(long + wanted + long)], in: size) {
            $0.length == long.count ? .passOver : .take
        }
        #expect(cut.messages == [wanted] && cut.judged.count == 3)
        #expect(cut.error == nil && !cut.isWithinMessage)
    }

    @Test(
        "what begins no message of a legal length is refused at its first 16 bytes",
        arguments: [
            (Array("GET / HTTP/1.1\r\n".utf8), false), ([UInt8](repeating: 0, count: 16), false),
            ([UInt8](repeating: 255, count: 16), false),
            (header(fields: [], body: 0xFFFF_FFFF), false), (header(fields: [], body: 128 << 20), false),
            (header(fields: [], claimed: 0xFFFF_FFFF), false),
            // These are only longer than a link allows.
            (header(fields: [], body: 1 << 20), true), (header(fields: [], claimed: 64 << 20), true),
        ])
    func garbage(bytes: [UInt8], isLegal: Bool) {
        #expect(Cut([Sent(bytes.dropLast())]).error == nil)
        #expect(Cut([Sent(bytes)]).error?.name == .invalidArgs)
        let passing = Cut([Sent(bytes)], Framer.Limits(header: 2048, message: 1024, passesOverBad: true))
        #expect((passing.error == nil) == isLegal && passing.isWithinMessage)
    }

    // MARK: Headers

    @Test("a header says what libdbus says, whatever the kind, and is not complete before its last byte")
    func likeLibdbus() throws {
        let call = try Message.call(to: "org.example.A", "/a", "org.example.B", "C")
        call.setSerial(0x0102_0304)
        var writer = MessageWriter(call)
        try writer.write(String(repeating: "x", count: 500))
        let signal = try Message.signal(from: "/a", "org.example.B", "C")
        for message in try [
            call, .reply(to: call), .error(.invalidArgs("What is wrong"), to: call), signal,
        ] {
            if message.serial == 0 { message.setSerial(7) }
            let bytes = try message.marshal()
            let size = try headerSize(bytes)
            let reference = try #require(Libdbus.header(bytes))
            let expected = Cut.Header(
                kind: reference.kind, replySerial: reference.replySerial, length: bytes.count)
            for count in 0...bytes.count {
                #expect(Cut([Sent(bytes.prefix(count))]).judged == (count < size ? [] : [expected]))
            }
        }
    }

    @Test("both byte orders are understood, and the body need not be there")
    func byteOrders() {
        let little = header(fields: answers([4, 3, 2, 1]), body: 300)
        let big = header(order: UInt8(ascii: "B"), fields: answers([1, 2, 3, 4]), body: 300)
        for bytes in [little, big] {
            let expected = Cut.Header(kind: .reply, replySerial: 0x0102_0304, length: bytes.count + 300)
            #expect(Cut([Sent(bytes)]).judged == [expected])
        }
    }

    @Test("a kind that nobody knows is none, and a message need not answer anything")
    func unknownKind() {
        let bytes = header(kind: 9, fields: [], body: 0)
        let cut = Cut([Sent(bytes)])
        #expect(cut.messages == [bytes])
        #expect(cut.judged == [Cut.Header(kind: nil, replySerial: 0, length: bytes.count)])
    }

    @Test(
        "what is no header is refused as soon as it is there",
        arguments: [
            header(kind: 0, fields: answersOne), header(version: 2, fields: answersOne),
            header(serial: 0, fields: answersOne), header(fields: []), header(fields: [5, 1, 0x75, 0, 1, 2]),
            // Two serial numbers, none, and one of another type; a field that is none, and one that is cut off.
            header(fields: answersOne + answers([2, 0, 0, 0])), header(fields: answers([0, 0, 0, 0])),
            header(fields: answers([1, 0, 0, 0], type: "i")),
            header(fields: answersOne + answers([1], field: 0)),
            header(fields: answersOne + [8]),
            // A text that is longer than the header, one that does not end, and padding that is not empty.
            header(fields: answersOne + [1, 1, 0x6F, 0, 255, 255, 255, 255]),
            header(fields: answersOne + [1, 1, 0x6F, 0, 1, 0, 0, 0, 0x2F, 1]),
            header(fields: answersOne + [8, 1, 0x67, 0, 0, 0, 7, 7]),
            header(fields: answersOne + [7, 1, 0x76, 0, 1, 0x79, 0, 0]),
            header(fields: [UInt8](repeating: 0, count: 2048)),
            header(fields: [UInt8](repeating: 0, count: 2000)),
        ])
    func malformed(bytes: [UInt8]) {
        #expect(Cut([Sent(header(fields: answersOne))]).error == nil)
        let cut = Cut([Sent(bytes)])
        #expect(cut.error?.name == .invalidArgs && cut.judged.isEmpty)
    }

    @Test("whatever the bytes are, what libdbus takes for a message is taken, and its header says the same")
    func mutations() throws {
        var random = Seeded(1)
        let call = try Message.call(to: nil, "/", "a.b", "C")
        call.setSerial(5)
        let reply = try Message.reply(to: call)
        reply.setSerial(6)
        for sample in try [call.marshal(), reply.marshal()] {
            for _ in 0..<5000 {
                var bytes = sample
                for _ in 0..<1 + random.below(3) {
                    bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
                }
                let cut = Cut([Sent(bytes)])
                guard let reference = Libdbus.header(bytes) else { continue }
                let expected = Cut.Header(
                    kind: reference.kind, replySerial: reference.replySerial, length: bytes.count)
                try #require(cut.messages == [bytes] && cut.judged == [expected], "\(bytes)")
            }
        }
    }

    // MARK: Descriptors

    @Test("each message has the descriptors that came with its first byte", arguments: [1, 16, 100, 1000])
    func descriptors(size: Int) throws {
        let opened = try OpenDescriptor.several(4)
        var (sent, rest) = ([Sent](), opened.map(\.number)[...])
        for count in [1, 0, 2, 0, 1] {
            sent.append(Sent(try call(announcing: count), Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
        }
        let cut = Cut(sent, in: size)
        let files = opened.map(\.file)
        #expect(cut.files == [[files[0]], [], [files[1], files[2]], [], [files[3]]] && cut.error == nil)
        // What nobody takes out of a message is closed with it.
        #expect(files.allSatisfy { $0.count == 0 })
    }

    @Test("a descriptor that is read at once with messages that carry none is the next one's")
    func behindOthers() throws {
        let opened = try OpenDescriptor.several(1)[0]
        let stream = try call("none") + call("none") + call(announcing: 1)
        let cut = Cut([Sent(stream, [opened.number])])
        #expect(cut.files == [[], [], [opened.file]] && cut.error == nil && opened.file.count == 0)
    }

    @Test(
        "a descriptor that is missing, or one too many, is refused, and none is left open",
        arguments: [
            ([1], [0], 0), ([2], [1], 0), ([1, 1], [1, 0], 1), ([0], [1], 1), ([0], [10], 1), ([1], [2], 1),
            ([1, 0], [1, 1], 2), ([0, 1], [1, 0], 1),
        ])
    func otherDescriptors(announced: [Int], come: [Int], taken: Int) throws {
        for size in [1, 1000] {
            let opened = try OpenDescriptor.several(come.reduce(0, +))
            var (sent, rest) = ([Sent](), opened.map(\.number)[...])
            for (count, number) in zip(announced, come) {
                sent.append(Sent(try call(announcing: count), Array(rest.prefix(number))))
                rest = rest.dropFirst(number)
            }
            let cut = Cut(sent, in: size)
            #expect(cut.error?.message.contains("descriptor") == true)
            #expect(cut.messages.count == taken || size == 1)
            #expect(opened.allSatisfy { $0.file.count == 0 })
        }
    }

    @Test("a descriptor too many is refused before the body is there, and so is one in the middle of it")
    func unannounced() throws {
        let bytes = try call(String(repeating: "x", count: 1000))
        let size = try headerSize(bytes)
        for sizes in [(before: 0, with: size), (before: 20, with: size - 20), (before: size + 1, with: 1)] {
            let opened = try OpenDescriptor.several(1)[0]
            let (before, after) = (bytes.prefix(sizes.before), bytes.dropFirst(sizes.before))
            let cut = Cut([Sent(before), Sent(after.prefix(sizes.with), [opened.number])])
            #expect(cut.error?.message.contains("descriptor") == true && opened.file.count == 0)
        }
    }

    @Test(
        "what is passed over leaves no descriptor open, and the next message has its own",
        arguments: [false, true])
    func passedOverDescriptors(isTooLong: Bool) throws {
        let wanted = try call(announcing: 1)
        let limits = Framer.Limits(header: 2048, message: wanted.count, passesOverBad: true)
        for size in [1, 1000] {
            let opened = try OpenDescriptor.several(3)
            let numbers = opened.map(\.number)
            let unwanted = try call(announcing: 2, serial: 2)
            let sent = [Sent(unwanted, Array(numbers[..<2])), Sent(wanted, [numbers[2]])]
            let cut =
                isTooLong
                ? Cut(sent, in: size, limits)
                : Cut(sent, in: size) { $0.serial == 2 ? .passOver : .take }
            #expect(cut.files == [[opened[2].file]] && cut.error == nil && !cut.isWithinMessage)
            #expect(opened.allSatisfy { $0.file.count == 0 })
        }
    }

    @Test("what never comes whole leaves no descriptor open, and no more wait than the kernel passes at once")
    func unfinished() throws {
        let bytes = try call(announcing: 1)
        for count in [1, 20, bytes.count - 1] {
            let opened = try OpenDescriptor.several(1)[0]
            #expect(Cut([Sent(bytes.prefix(count), [opened.number])]).error == nil)
            #expect(opened.file.count == 0)
        }
        for count in [253, 254] {
            let opened = try OpenDescriptor.several(1)[0]
            let copies = (1..<count).map { _ in dup(opened.number) }
            let cut = Cut([Sent(bytes.prefix(1), [opened.number] + copies)])
            #expect((cut.error == nil) == (count == 253) && opened.file.count == 0)
        }
    }
}

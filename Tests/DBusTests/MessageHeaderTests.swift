// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import LibdbusReference
import TestSupport
import Testing

/// A header made from its parts, followed by `body` bytes.
private func bytes(
    order: UInt8 = UInt8(ascii: "l"), kind: UInt8 = 2, serial: UInt32 = 9, fields: [UInt8], body: Int = 0
) -> [UInt8] {
    func number(_ value: Int) -> [UInt8] {
        let little = (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return order == UInt8(ascii: "B") ? little.reversed() : little
    }
    let head = [order, kind, 0, 1] + number(body) + number(Int(serial)) + number(fields.count) + fields
    return head + [UInt8](repeating: 0, count: (8 - head.count % 8) % 8 + body)
}

/// The field with the serial number of the call that is answered.
private func answers(_ serial: [UInt8], field: UInt8 = 5, type: Character = "u") -> [UInt8] {
    [field, 1, type.asciiValue ?? 0, 0] + serial
}

@Suite("The raw header of a message")
struct MessageHeaderTests {
    @Test("it says what libdbus says, of every kind of message, and is not complete before its last byte")
    func likeLibdbus() throws {
        let call = try Message.call(to: "org.example.A", "/a", "org.example.B", "C")
        call.setSerial(0x0102_0304)
        var writer = MessageWriter(call)
        try writer.write(String(repeating: "x", count: 5000))
        let signal = try Message.signal(from: "/a", "org.example.B", "C")
        for message in try [
            call, .reply(to: call), .error(.invalidArgs("What is wrong"), to: call), signal,
        ] {
            if message.serial == 0 { message.setSerial(7) }
            let bytes = try message.marshal()
            guard case .header(let header) = MessageHeader.read(bytes) else {
                Issue.record("no header")
                continue
            }
            let reference = try #require(Libdbus.header(bytes))
            #expect(header.kind == reference.kind && header.replySerial == reference.replySerial)
            #expect(header.length == bytes.count)
            var complete = 0
            while case .needs(let count) = MessageHeader.read(bytes.prefix(complete)) {
                #expect(count > complete && count <= MessageHeader.maximumSize)
                complete += 1
            }
            #expect(complete <= bytes.count && MessageHeader.read(bytes.prefix(complete)) == .header(header))
        }
    }

    @Test("both byte orders are understood")
    func byteOrders() {
        let little = bytes(fields: answers([4, 3, 2, 1]), body: 300)
        let big = bytes(order: UInt8(ascii: "B"), fields: answers([1, 2, 3, 4]), body: 300)
        for bytes in [little, big] {
            guard case .header(let header) = MessageHeader.read(bytes.prefix(32)) else {
                Issue.record("no header")
                continue
            }
            #expect(header.kind == .reply && header.replySerial == 0x0102_0304)
            #expect(header.length == bytes.count)
        }
    }

    @Test("a kind that nobody knows is none, and a message need not answer anything")
    func unknownKind() {
        guard case .header(let header) = MessageHeader.read(bytes(kind: 9, fields: [])) else {
            Issue.record("no header")
            return
        }
        #expect(header.kind == nil && header.replySerial == 0)
    }

    @Test(
        "what is no header is refused as soon as it is there",
        arguments: [
            bytes(order: 0, fields: []), bytes(serial: 0, fields: []), bytes(fields: [5, 1, 0x75, 0, 1, 2]),
            // Two serial numbers, none, and one of another type.
            bytes(fields: answers([1, 0, 0, 0]) + answers([2, 0, 0, 0])),
            bytes(fields: answers([0, 0, 0, 0])),
            bytes(fields: answers([1, 0, 0, 0], type: "i")),
            // A text that is longer than the header, one that does not end, and padding that is not empty.
            bytes(fields: [1, 1, 0x6F, 0, 255, 255, 255, 255]),
            bytes(fields: [1, 1, 0x6F, 0, 1, 0, 0, 0, 0x2F, 1]),
            bytes(fields: [8, 1, 0x67, 0, 0, 0, 7, 7]), bytes(fields: [7, 1, 0x76, 0, 1, 0x79, 0, 0]),
            bytes(fields: [UInt8](repeating: 0, count: MessageHeader.maximumSize)),
        ])
    func garbage(bytes: [UInt8]) {
        #expect(MessageHeader.read(bytes) == .invalid)
    }

    @Test(
        "whatever the bytes are, it reads none that are not there, and libdbus agrees about every message that it takes"
    )
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
                let reading = MessageHeader.read(bytes)
                guard let message = Libdbus.header(bytes), case .header(let header) = reading else {
                    continue
                }
                #expect(header.length == bytes.count && header.kind == message.kind)
                #expect(header.replySerial == message.replySerial)
            }
        }
    }
}

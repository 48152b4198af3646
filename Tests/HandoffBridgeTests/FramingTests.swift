// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import MainLoop
import Testing

@testable import HandoffBridge

private func message(_ text: String, serial: UInt32 = 1) throws -> [UInt8] {
    let message = try Message.call(to: nil, "/", "a.b", "C")
    var writer = MessageWriter(message)
    try writer.write(text)
    message.setSerial(serial)
    return try message.marshal()
}

/// The first 16 bytes of a message, little-endian.
private func head(body: UInt32, fields: UInt32) -> [UInt8] {
    let numbers = [body, 1, fields].flatMap { number in
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    return [UInt8(ascii: "l"), 1, 0, 1] + numbers
}

@Suite("Framing")
struct FramingTests {
    @Test("messages are cut out of the stream, however it arrives", arguments: [1, 2, 15, 16, 17, 100, 5000])
    func pieces(size: Int) throws {
        let messages = try [
            message("a"), message(""), message(String(repeating: "x", count: 4000)), message("b"),
        ]
        let stream = messages.flatMap { $0 }
        var frames = FrameBuffer()
        var found: [[UInt8]] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            frames.append(stream[start..<min(start + size, stream.count)])
            while let frame = try frames.next() { found.append(frame) }
        }
        #expect(found == messages)
        #expect(frames.count == 0)
    }

    @Test("a message of 1 MiB is taken, one byte more is not")
    func limit() throws {
        let overhead = try message("").count
        let largest = try message(String(repeating: "x", count: (1 << 20) - overhead))
        #expect(largest.count == 1 << 20)
        var frames = FrameBuffer()
        frames.append(largest)
        #expect(try frames.next() == largest)
        frames.append(try message(String(repeating: "x", count: (1 << 20) - overhead + 1)))
        #expect(throws: DBusError.self) { try frames.next() }
    }

    @Test(
        "what begins no message of a legal length is refused at its first 16 bytes",
        arguments: [
            Array("GET / HTTP/1.1\r\n".utf8), [UInt8](repeating: 0, count: 16),
            [UInt8](repeating: 255, count: 16),
            head(body: .max, fields: 0), head(body: 1 << 20, fields: 0), head(body: 128 << 20, fields: 0),
            head(body: 0, fields: .max), head(body: 0, fields: 64 << 20),
        ])
    func garbage(bytes: [UInt8]) throws {
        var frames = FrameBuffer()
        frames.append(bytes.dropLast())
        #expect(try frames.next() == nil)
        frames.append([bytes[15]])
        #expect(throws: DBusError.self) { try frames.next() }
    }

    @Test("what waits to be written is handed out in pieces that stay the same until they are written")
    func outgoing() {
        var outgoing = OutgoingBytes()
        var written: [UInt8] = []
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
        outgoing.append(Array(bytes[..<10]))
        var refused: [UInt8] = []
        let first = outgoing.write {
            refused = Array($0)
            return nil
        }
        #expect(!first)
        outgoing.append(Array(bytes[10...]))
        let second = outgoing.write {
            #expect(Array($0) == refused)
            written += $0.prefix(4)
            return 4
        }
        #expect(second)
        while !outgoing.isEmpty {
            _ = outgoing.write {
                #expect($0.count <= OutgoingBytes.pieceSize)
                written += $0
                return $0.count
            }
        }
        #expect(written == bytes)
    }
}

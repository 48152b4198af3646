// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
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

/// Takes every message that is not too long.
private func takeAll(_ header: MessageHeader) -> FrameBuffer.Verdict {
    .take(limit: FrameBuffer.maximumMessage)
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
            while let frame = try frames.next(takeAll) { found.append(frame) }
        }
        #expect(found == messages)
        #expect(frames.count == 0)
    }

    @Test("a message is taken up to the limit, one byte more is refused when nothing of its body has come")
    func limit() throws {
        let overhead = try message("").count
        for (limit, more) in [(FrameBuffer.maximumMessage, 0), (FrameBuffer.maximumFetchReply, 0), (5000, 1)]
        {
            let bytes = try message(String(repeating: "x", count: limit - overhead + more))
            #expect(bytes.count == limit + more)
            var frames = FrameBuffer()
            frames.append(bytes.prefix(overhead))
            let next = Result { try frames.next { _ in .take(limit: limit) } }
            if more == 1 {
                #expect(throws: DBusError.self) { try next.get() }
            } else {
                #expect(try next.get() == nil)
                frames.append(bytes.dropFirst(overhead))
                #expect(try frames.next { _ in .take(limit: 0) } == bytes)
            }
        }
    }

    @Test("what is refused says why, as soon as its header is there")
    func refusal() throws {
        var frames = FrameBuffer()
        frames.append(try message("long enough").dropLast(12))
        let error = #expect(throws: DBusError.self) { try frames.next { _ in .refuse("it did") } }
        #expect(error?.message == "it did")
    }

    @Test("nothing is kept of what is passed over, however it arrives", arguments: [1, 7, 1000, 70_000])
    func skipping(size: Int) throws {
        let (long, wanted) = (
            try message(String(repeating: "x", count: 60_000), serial: 1), try message("wanted")
        )
        let stream = long + wanted + long
        var (frames, found, judged, largest) = (FrameBuffer(), [[UInt8]](), 0, 0)
        for start in stride(from: 0, to: stream.count, by: size) {
            frames.append(stream[start..<min(start + size, stream.count)])
            while let frame = try frames.next({ header in
                judged += 1
                return header.length == long.count ? .skip(limit: 100_000) : .take(limit: 100_000)
            }) { found.append(frame) }
            largest = max(largest, frames.count)
        }
        #expect(found == [wanted] && judged == 3 && frames.count == 0)
        #expect(largest <= MessageHeader.maximumSize)
        frames.append(long)
        #expect(throws: DBusError.self) { try frames.next { _ in .skip(limit: 1000) } }
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
        #expect(try frames.next(takeAll) == nil)
        frames.append([bytes[15]])
        #expect(throws: DBusError.self) { try frames.next(takeAll) }
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

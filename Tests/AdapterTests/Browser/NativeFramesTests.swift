// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import BrowserAdapter

@Suite("Messages of a browser")
struct NativeFramesTests {
    private let bodies: [[UInt8]] = [
        Array("{}".utf8), [], Array("{\"title\":\"Übung\"}".utf8), Array(repeating: 7, count: 300),
    ]

    @Test("messages are found however the bytes arrive", arguments: [1, 2, 3, 4, 5, 7, 100, 10_000])
    func pieces(size: Int) throws {
        let stream = bodies.flatMap { NativeFrames.framed($0) }
        var frames = NativeFrames()
        var found: [[UInt8]] = []
        for start in Swift.stride(from: 0, to: stream.count, by: size) {
            found += try frames.received(stream[start..<min(start + size, stream.count)])
        }
        #expect(found == bodies)
    }

    @Test("a length counts bytes, as the machine writes them")
    func length() {
        let framed = NativeFrames.framed(Array("ü".utf8))
        #expect(framed.count == 6)
        #expect(
            UInt32(littleEndian: 2) == 2
                ? framed.prefix(4) == [2, 0, 0, 0] : framed.prefix(4) == [0, 0, 0, 2])
    }

    @Test("a message of 4 GB is refused before any of it has come, and the longest one is not")
    func tooLong() throws {
        var frames = NativeFrames()
        #expect(throws: NativeFrames.TooLong(length: .max)) {
            try frames.received([UInt8](repeating: 0xFF, count: 4))
        }
        let longest = [UInt8](repeating: 0x20, count: NativeFrames.maximumLength)
        frames = NativeFrames()
        #expect(try frames.received(NativeFrames.framed(longest)) == [longest])
        frames = NativeFrames()
        #expect(throws: NativeFrames.TooLong.self) {
            try frames.received(NativeFrames.framed(longest + [0]).prefix(4))
        }
    }
}

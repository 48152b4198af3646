// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import HandoffBridge

private func frame(_ data: [UInt8]) -> [UInt8] {
    var header = [UInt8](repeating: 0, count: StreamFrame.headerSize)
    header.withUnsafeMutableBytes { StreamFrame.write(data.count, into: $0) }
    return header + data
}

@Suite("Frames of streams")
struct StreamFrameTests {
    /// What is found in `bytes` when they come in pieces of `size`.
    private func read(_ bytes: [UInt8], size: Int) -> (data: [UInt8], last: StreamFrameReader.Piece?) {
        var (reader, data) = (StreamFrameReader(), [UInt8]())
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = Array(bytes[start..<min(bytes.count, start + size)])
            var place = 0
            while let next = piece.withUnsafeBytes({ reader.next($0, from: place) }) {
                guard case .data(let range) = next else { return (data, next) }
                data += piece[range]
                place = range.upperBound
            }
        }
        return (data, nil)
    }

    @Test("lengths are big-endian", arguments: [0, 1, 255, 256, 65_536, 262_144])
    func header(size: Int) {
        let expected = (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) }
        #expect(frame([UInt8](repeating: 7, count: size)).prefix(4).elementsEqual(expected))
    }

    @Test(
        "the data is found, and the end, whichever way it is cut",
        arguments: [1, 2, 3, 4, 5, 7, 64, 9973, 1 << 20])
    func pieces(size: Int) {
        let data = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let frames = [data[..<1], data[1..<6], data[6..<262_150], data[262_150...]].flatMap {
            frame(Array($0))
        }
        let (found, last) = read(frames + frame([]), size: size)
        #expect(found == data)
        guard case .end = last else {
            Issue.record("it ends with \(String(describing: last))")
            return
        }
    }

    @Test("a frame of 256 KiB is taken, one byte more is not")
    func limit() {
        #expect(read([0, 4, 0, 0], size: 4).last == nil)
        #expect(read([0, 4, 0, 1], size: 4).last == .tooLong(262_145))
        #expect(read([0xFF, 0xFF, 0xFF, 0xFF], size: 1).last == .tooLong(4_294_967_295))
    }
}

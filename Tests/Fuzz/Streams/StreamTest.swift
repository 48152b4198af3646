// SPDX-License-Identifier: LGPL-2.1-or-later
import FuzzSupport

@testable import HandoffBridge

/// Bytes as they come over the connection of a stream, in pieces of any size.
enum StreamTest {
    /// What was found in them.
    private struct Found: Equatable {
        var data: [UInt8] = []
        /// How many bytes there were up to the end, and up to a frame that is too long.
        var end: Int?
        var tooLong: Int?
    }

    static func run(_ bytes: [UInt8]) {
        var choices = Choices(bytes)
        let sizes = choices.bytes(atMost: 15)
        let stream = choices.rest()
        let whole = find(stream, [])
        let pieces = find(stream, sizes)
        require(whole == pieces, "in pieces of \(sizes) it is \(pieces), else \(whole)")
        require(whole.data.count <= stream.count, "\(whole.data.count) bytes of \(stream.count)")
    }

    /// What is found in `stream` when it arrives in pieces of the lengths `sizes`, repeatedly; an empty array
    /// means one piece.
    private static func find(_ stream: [UInt8], _ sizes: [UInt8]) -> Found {
        var (reader, found, start, piece) = (StreamFrameReader(), Found(), 0, 0)
        while start < stream.count {
            let size = sizes.isEmpty ? stream.count : Int(sizes[piece % sizes.count]) + 1
            piece += 1
            let bytes = Array(stream[start..<min(stream.count, start + size)])
            let goesOn = bytes.withUnsafeBytes { take($0, at: start, &reader, &found) }
            guard goesOn else { return found }
            start += bytes.count
        }
        return found
    }

    private static func take(
        _ bytes: UnsafeRawBufferPointer, at start: Int, _ reader: inout StreamFrameReader,
        _ found: inout Found
    ) -> Bool {
        var place = 0
        while let next = reader.next(bytes, from: place) {
            switch next {
            case .data(let range):
                require(
                    !range.isEmpty && range.lowerBound >= place && range.upperBound <= bytes.count, "\(range)"
                )
                found.data += bytes[range]
                place = range.upperBound
            case .end(let end):
                found.end = start + end
                return false
            case .tooLong(let size):
                require(size > StreamFrame.maximumSize, "\(size) is not too long")
                found.tooLong = size
                return false
            }
        }
        return true
    }
}

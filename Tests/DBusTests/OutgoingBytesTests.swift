// SPDX-License-Identifier: LGPL-2.1-or-later
import TestSupport
import Testing

@testable import DBus

@Suite("What waits to be written")
struct OutgoingBytesTests {
    private func message(_ descriptors: [Int32] = []) throws -> Message {
        let message = try Messages.call()
        message.descriptors = descriptors
        return message
    }

    @Test("it is handed out in pieces that stay the same until they are written")
    func pieces() throws {
        let size = 1 << 14
        var outgoing = OutgoingBytes(pieceSize: size)
        var written: [UInt8] = []
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
        outgoing.append(try message(), Array(bytes[..<10]))
        var refused: [UInt8] = []
        let first = outgoing.write { piece, _ in
            refused = Array(piece)
            return nil
        }
        #expect(!first)
        outgoing.append(try message(), Array(bytes[10...]))
        let second = outgoing.write { piece, _ in
            #expect(Array(piece) == refused)
            written += piece.prefix(4)
            return 4
        }
        let waiting = outgoing.count
        #expect(second && waiting == bytes.count - 4)
        while !outgoing.isEmpty {
            _ = outgoing.write { piece, message in
                #expect(piece.count <= size && message == nil)
                written += piece
                return piece.count
            }
        }
        #expect(written == bytes)
    }

    @Test(
        "descriptors begin a piece, go with its first byte, once, and are closed then",
        arguments: [100, 3 << 20])
    func descriptors(before: Int) throws {
        let opened = try OpenDescriptor.several(3)
        let numbers = opened.map(\.number)
        let messages = [
            [UInt8](repeating: 1, count: before), [UInt8](repeating: 2, count: 50),
            [UInt8](repeating: 3, count: 7),
        ]
        var outgoing = OutgoingBytes(pieceSize: 1 << 18)
        outgoing.append(try message(), messages[0])
        outgoing.append(try message(Array(numbers[..<2])), messages[1])
        outgoing.append(try message([numbers[2]]), messages[2])
        var (written, gone): ([UInt8], [Int: [Int32]]) = ([], [:])
        var isRefused = false
        while !outgoing.isEmpty {
            let wrote = outgoing.write { piece, message in
                // Each piece is refused once, and then 20 bytes of it are taken, and then the rest.
                isRefused.toggle()
                if isRefused { return nil }
                if let message { gone[written.count] = message.descriptors }
                let count = message == nil ? piece.count : min(20, piece.count)
                written += piece.prefix(count)
                return count
            }
            #expect(wrote != isRefused)
            let isGone = written.count > before
            #expect(opened[0].file.count == (isGone ? 0 : 1) && opened[1].file.count == (isGone ? 0 : 1))
        }
        #expect(written == messages.flatMap { $0 })
        #expect(gone == [before: Array(numbers[..<2]), before + 50: [numbers[2]]])
        #expect(opened[2].file.count == 0)
    }

    @Test("a message that is left out is so to its end, in whatever piece, and its descriptors are closed")
    func leftOut() throws {
        let opened = try OpenDescriptor.several(2)
        var outgoing = OutgoingBytes(pieceSize: 10)
        outgoing.append(try message(), [1, 2, 3])
        outgoing.append(try message([opened[0].number]), [UInt8](repeating: 4, count: 25))
        outgoing.append(try message(), [UInt8](repeating: 5, count: 12))
        outgoing.append(try message([opened[1].number]), [6])
        var written: [UInt8] = []
        while !outgoing.isEmpty {
            _ = outgoing.write { piece, message in
                if message != nil, piece.first == 4 { return 25 }
                written += piece
                return piece.count
            }
        }
        #expect(written == [1, 2, 3] + [UInt8](repeating: 5, count: 12) + [6])
        #expect(opened.allSatisfy { $0.file.count == 0 })
    }

    @Test("descriptors that are never written are closed with it")
    func unwritten() throws {
        let opened = try OpenDescriptor.several(2)
        do {
            var outgoing = OutgoingBytes(pieceSize: 10)
            for one in opened { outgoing.append(try message([one.number]), [1, 2, 3]) }
            let wrote = outgoing.write { _, _ in nil }
            let areOpen = opened.allSatisfy { $0.file.count == 1 }
            let waiting = outgoing.count
            #expect(!wrote && areOpen && waiting == 6)
        }
        #expect(opened.allSatisfy { $0.file.count == 0 })
    }
}

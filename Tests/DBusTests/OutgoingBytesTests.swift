// SPDX-License-Identifier: LGPL-2.1-or-later
import TestSupport
import Testing

@testable import DBus

@Suite("What waits to be written")
struct OutgoingBytesTests {
    @Test("it is handed out in pieces that stay the same until they are written")
    func pieces() {
        let size = 1 << 14
        var outgoing = OutgoingBytes(pieceSize: size)
        var written: [UInt8] = []
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
        outgoing.append([], Array(bytes[..<10]))
        var refused: [UInt8] = []
        let first = outgoing.write { piece, _ in
            refused = Array(piece)
            return nil
        }
        #expect(!first)
        outgoing.append([], Array(bytes[10...]))
        let second = outgoing.write { piece, _ in
            #expect(Array(piece) == refused)
            written += piece.prefix(4)
            return 4
        }
        let waiting = outgoing.count
        #expect(second && waiting == bytes.count - 4)
        while !outgoing.isEmpty {
            _ = outgoing.write { piece, descriptors in
                #expect(piece.count <= size && descriptors.isEmpty)
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
        outgoing.append([], messages[0])
        outgoing.append(Array(numbers[..<2]), messages[1])
        outgoing.append([numbers[2]], messages[2])
        var (written, gone): ([UInt8], [Int: [Int32]]) = ([], [:])
        var isRefused = false
        while !outgoing.isEmpty {
            let wrote = outgoing.write { piece, descriptors in
                // Each piece is refused once, and then 20 bytes of it are taken, and then the rest.
                isRefused.toggle()
                if isRefused { return nil }
                if !descriptors.isEmpty { gone[written.count] = descriptors }
                let count = descriptors.isEmpty ? piece.count : min(20, piece.count)
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

    @Test("descriptors that are never written are closed with it")
    func unwritten() throws {
        let opened = try OpenDescriptor.several(2)
        do {
            var outgoing = OutgoingBytes(pieceSize: 10)
            for one in opened { outgoing.append([one.number], [1, 2, 3]) }
            let wrote = outgoing.write { _, _ in nil }
            let areOpen = opened.allSatisfy { $0.file.count == 1 }
            let waiting = outgoing.count
            #expect(!wrote && areOpen && waiting == 6)
        }
        #expect(opened.allSatisfy { $0.file.count == 0 })
    }
}

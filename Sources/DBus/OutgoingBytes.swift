// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// Bytes that wait to be written, with the descriptors that go along, in pieces that stay the same until they have been
/// written: what GnuTLS could not write, it wants to be handed again.
struct OutgoingBytes: ~Copyable {
    /// The most that one piece holds: a TLS record, or more where nothing is encrypted.
    private let pieceSize: Int
    private var bytes: [UInt8] = []
    private var start = 0
    private var end = 0
    /// Descriptors, each to be sent with the byte at this place, and closed then.
    private var attached: [(place: Int, numbers: [Int32])] = []

    init(pieceSize: Int) { self.pieceSize = pieceSize }

    deinit { for (_, numbers) in attached { for number in numbers { close(number) } } }

    /// How many bytes are waiting.
    var count: Int { bytes.count - start }
    var isEmpty: Bool { bytes.count == start }

    /// Lets `body` add a message at the end; `descriptors` go with its first byte, and are this one's to close from then on.
    mutating func append(_ descriptors: [Int32], _ new: [UInt8]) {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 17)
            (start, end) = (0, 0)
        }
        if !descriptors.isEmpty { attached.append((bytes.count, descriptors)) }
        bytes += new
    }

    /// Hands the next piece to `body`, with the descriptors that go with its first byte, which returns how many of its bytes
    /// it has written; nil if it can write none now.
    /// - Returns: whether something was written.
    mutating func write(_ body: (UnsafeRawBufferPointer, [Int32]) -> Int?) -> Bool {
        let numbers = attached.first.flatMap { $0.place == start ? $0.numbers : nil } ?? []
        if end <= start {
            end = min(start + pieceSize, bytes.count)
            // The next one with descriptors begins a piece.
            let next = attached.first { $0.place > start }
            if let next { end = min(end, next.place) }
        }
        let range = start..<end
        guard
            let written = bytes.withUnsafeBytes({ body(UnsafeRawBufferPointer(rebasing: $0[range]), numbers) }
            )
        else { return false }
        if written > 0, !numbers.isEmpty {
            for number in numbers { close(number) }
            attached.removeFirst()
        }
        start += written
        if start > 1 << 20 {
            bytes.removeFirst(start)
            for index in attached.indices { attached[index].place -= start }
            end -= start
            start = 0
        }
        return true
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// Bytes that wait to be written, in pieces that stay the same until they have been: what GnuTLS could not
/// write, it wants to be handed again.
struct OutgoingBytes {
    /// How many bytes may wait.
    static let maximum = 4 << 20
    /// The most that one piece holds: a TLS record.
    static let pieceSize = 1 << 14

    private var bytes: [UInt8] = []
    private var start = 0
    private var end = 0

    /// How many bytes are waiting.
    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }

    /// Adds `new` at the end.
    mutating func append(_ new: [UInt8]) {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 16)
            (start, end) = (0, 0)
        }
        bytes += new
    }

    /// Hands the next piece to `body`, which returns how many of its bytes it has written; nil if it can
    /// write none now.
    /// - Returns: whether something was written.
    mutating func write(_ body: (UnsafeRawBufferPointer) -> Int?) -> Bool {
        if end <= start { end = min(start + Self.pieceSize, bytes.count) }
        let range = start..<end
        guard let written = bytes.withUnsafeBytes({ body(UnsafeRawBufferPointer(rebasing: $0[range])) })
        else {
            return false
        }
        start += written
        if start > 1 << 20 {
            bytes.removeFirst(start)
            end -= start
            start = 0
        }
        return true
    }
}

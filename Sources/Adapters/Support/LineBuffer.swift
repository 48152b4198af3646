// SPDX-License-Identifier: LGPL-2.1-or-later

/// Takes bytes as they come, and gives them back line by line. A line that is too long is left out, and takes no more room
/// than the longest that is not.
package struct LineBuffer {
    /// How long a line may be, in bytes: what is escaped in the longest text takes six times as many.
    package static let maximumLine = 1 << 20

    private let limit: Int
    private var bytes: [UInt8] = []
    /// Whether the line that has begun is too long already.
    private var isSkipping = false

    /// Lines of at most `limit` bytes.
    package init(limit: Int = Self.maximumLine) { self.limit = limit }

    /// The lines that end in `new`, which follows what was added before.
    package mutating func add(_ new: some Sequence<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for byte in new {
            if byte == UInt8(ascii: "\n") {
                if !isSkipping, !bytes.isEmpty { lines.append(bytes) }
                bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
                isSkipping = false
            } else if !isSkipping {
                bytes.append(byte)
                if bytes.count > limit { (bytes, isSkipping) = ([], true) }
            }
        }
        return lines
    }

    /// How many bytes are kept for a line that has not ended.
    package var count: Int { bytes.count }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// How far the sending of a content in pieces is (ICCCM, "INCR Properties").
struct X11Sending: Equatable {
    private let size: Int
    private let pieceSize: Int
    private var offset = 0
    private(set) var hasEnded = false

    /// A content of `size` bytes is to be sent, in pieces of at most `pieceSize`.
    init(size: Int, pieceSize: Int) { (self.size, self.pieceSize) = (size, pieceSize) }

    /// The reader has deleted the property, and so has taken what was in it.
    /// - Returns: the bytes to write next: after the last ones none, which tells the end; nil after that.
    mutating func next() -> Range<Int>? {
        guard !hasEnded else { return nil }
        let range = offset..<min(size, offset + pieceSize)
        offset = range.upperBound
        hasEnded = range.isEmpty
        return range
    }
}

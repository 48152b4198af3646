// SPDX-License-Identifier: LGPL-2.1-or-later

/// The frames in which the bytes of a stream travel (protocol.md, "Streams"): the length, four bytes big-endian, and as
/// many bytes. A length of 0 ends the direction.
enum StreamFrame {
    /// How many bytes come before the data.
    static let headerSize = 4
    /// How many bytes a frame holds at most.
    static let maximumSize = 256 << 10
    /// Writes the header of a frame with `size` bytes, 0 for the end of the direction.
    static func write(_ size: Int, into header: UnsafeMutableRawBufferPointer) {
        let value = UInt32(size)
        header[0] = UInt8(truncatingIfNeeded: value >> 24)
        header[1] = UInt8(truncatingIfNeeded: value >> 16)
        header[2] = UInt8(truncatingIfNeeded: value >> 8)
        header[3] = UInt8(truncatingIfNeeded: value)
    }
}

/// Finds the frames in what arrives, into whatever pieces it is cut.
struct StreamFrameReader {
    /// What comes next in some bytes.
    enum Piece: Equatable {
        /// The bytes in this range are data.
        case data(Range<Int>)
        /// The direction has ended; what follows is from this place on.
        case end(Int)
        /// The length is more than a frame may have.
        case tooLong(Int)
    }

    /// How many bytes of the present frame are still to come.
    private var left = 0
    private var header: UInt32 = 0
    /// How many bytes of the header have arrived.
    private var headerCount = 0

    /// The next piece of `bytes` at `start` or later; nil if there is nothing more in them.
    mutating func next(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Piece? {
        var place = start
        while left == 0 {
            guard place < bytes.count else { return nil }
            header = header << 8 | UInt32(bytes[place])
            headerCount += 1
            place += 1
            guard headerCount == StreamFrame.headerSize else { continue }
            let size = Int(header)
            (header, headerCount) = (0, 0)
            if size == 0 { return .end(place) }
            guard size <= StreamFrame.maximumSize else { return .tooLong(size) }
            left = size
        }
        guard place < bytes.count else { return nil }
        let end = min(bytes.count, place + left)
        left -= end - place
        return .data(place..<end)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import FoundationEssentials
internal import Platform

/// Memory that the kernel copies into and that is handed out as it is. A few are used again and again, by all streams:
/// new memory costs a page fault for every 4 KiB, which takes longer than copying.
struct Chunk: @unchecked Sendable {
    // @unchecked: whoever has taken it is the only one who has it, until it is given back.
    private let start: UnsafeMutableRawPointer

    /// How many are kept for later at most.
    private static let mostKept = 8
    private static let kept = Monitor([Chunk]()) { _ in false }

    /// A chunk that nobody else has. It must be given back, or become data.
    static func take() -> Chunk {
        kept.change { $0.popLast() }
            ?? Chunk(start: .allocate(byteCount: ContinuationStream.largestChunk, alignment: 16))
    }

    /// The memory, whatever it has from before.
    var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: start, count: ContinuationStream.largestChunk)
    }

    /// Nobody uses it any more.
    func giveBack() {
        let isKept = Self.kept.change { kept in
            guard kept.count < Self.mostKept else { return false }
            kept.append(self)
            return true
        }
        if !isKept { start.deallocate() }
    }

    /// Its first `count` bytes, to which it belongs from then on. Few bytes do not keep the whole of it.
    func data(_ count: Int) -> Data {
        guard count > ContinuationStream.largestChunk / 16 else {
            defer { giveBack() }
            return Data(bytes[..<count])
        }
        return Data(
            bytesNoCopy: start, count: count,
            deallocator: .custom { start, _ in Chunk(start: start).giveBack() })
    }
}

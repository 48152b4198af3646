// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform

/// Tells the bytes of a document from the SHA-256 that follows them, and checks both.
struct DocumentContent {
    private let size: UInt64?
    private var digest = SHA256()
    /// How many bytes of the document have come.
    private(set) var count: UInt64 = 0
    /// The last bytes that have come: the checksum, or a part of it. If the size is not known, these may still turn out
    /// to be bytes of the document.
    private var tail: [UInt8] = []

    private static let checksum = 32

    /// For a document of `size` bytes; nil if that is not known.
    init(size: UInt64?) { self.size = size }

    /// Takes what has come, and gives `write` what of it belongs to the document.
    /// - Throws: what `write` throws; also if more comes than there should be.
    mutating func add(
        _ bytes: UnsafeRawBufferPointer, _ write: (UnsafeRawBufferPointer) throws(HandoffFailure) -> Void
    ) throws(HandoffFailure) {
        guard let size else { return try addUnsized(bytes, write) }
        let part = Int(min(UInt64(bytes.count), size - count))
        try take(UnsafeRawBufferPointer(rebasing: bytes[..<part]), write)
        tail += bytes[part...]
        guard tail.count <= Self.checksum else { throw Self.wrongSize }
    }

    private mutating func addUnsized(
        _ bytes: UnsafeRawBufferPointer, _ write: (UnsafeRawBufferPointer) throws(HandoffFailure) -> Void
    ) throws(HandoffFailure) {
        // So much of what was kept is followed by enough now.
        let surplus = max(0, min(tail.count, tail.count + bytes.count - Self.checksum))
        let former = Array(tail[..<surplus])
        try take(former, write)
        tail.removeFirst(surplus)
        let part = max(0, bytes.count - Self.checksum)
        try take(UnsafeRawBufferPointer(rebasing: bytes[..<part]), write)
        tail += bytes[part...]
    }

    private mutating func take(
        _ bytes: [UInt8], _ write: (UnsafeRawBufferPointer) throws(HandoffFailure) -> Void
    ) throws(HandoffFailure) {
        do {
            try bytes.withUnsafeBytes { try take($0, write) }
        } catch {
            throw error as? HandoffFailure ?? Self.wrongContent
        }
    }

    private mutating func take(
        _ bytes: UnsafeRawBufferPointer, _ write: (UnsafeRawBufferPointer) throws(HandoffFailure) -> Void
    ) throws(HandoffFailure) {
        guard !bytes.isEmpty else { return }
        digest.update(bytes)
        try write(bytes)
        count += UInt64(bytes.count)
    }

    /// Nothing more comes.
    /// - Returns: what tells it from other content.
    /// - Throws: if something is missing, or the checksum is another.
    mutating func check() throws(HandoffFailure) -> ContentMark {
        guard tail.count == Self.checksum, size == nil || count == size else { throw DocumentStream.cut }
        guard digest.finish() == tail else { throw Self.wrongContent }
        return ContentMark(Digest.hexadecimal(tail), size: count)
    }

    private static let wrongSize = HandoffFailure(
        .connectionUnavailable,
        "The other device sent more than the document that it had announced. It may have been changed meanwhile: try"
            + " again.")

    private static let wrongContent = HandoffFailure(
        .connectionUnavailable,
        "The document did not arrive as it was sent: its checksum is another. It may have been changed meanwhile: try"
            + " again.")
}

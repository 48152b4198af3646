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
    /// Messages whose descriptors are to be sent with the byte at this place, and closed then.
    private var attached: [(place: Int, message: Message)] = []

    init(pieceSize: Int) { self.pieceSize = pieceSize }

    /// How many bytes are waiting.
    var count: Int { bytes.count - start }
    var isEmpty: Bool { bytes.count == start }

    /// Adds `message` at the end, which takes these bytes; its descriptors go with the first.
    mutating func append(_ message: Message, _ new: [UInt8]) {
        let isEmpty = isEmpty
        if isEmpty { (start, end) = (0, 0) }
        if message.containsFileDescriptors { attached.append((isEmpty ? 0 : bytes.count, message)) }
        // Taken as they are they need not be copied.
        if isEmpty { bytes = new } else { bytes += new }
    }

    /// Hands the next piece to `body`, with the message whose descriptors go with its first byte, which returns how many bytes
    /// need not be written any longer: what it has written, or all of that message, also what is in later pieces; nil if it
    /// can write none now.
    /// - Returns: whether something was written.
    mutating func write(_ body: (UnsafeRawBufferPointer, Message?) -> Int?) -> Bool {
        let message = attached.first.flatMap { $0.place == start ? $0.message : nil }
        if end <= start {
            end = min(start + pieceSize, bytes.count)
            // The next one with descriptors begins a piece.
            let next = attached.first { $0.place > start }
            if let next { end = min(end, next.place) }
        }
        let range = start..<end
        guard
            let written = bytes.withUnsafeBytes({ body(UnsafeRawBufferPointer(rebasing: $0[range]), message) }
            )
        else { return false }
        if written > 0, let message {
            for number in message.takeDescriptors() { close(number) }
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

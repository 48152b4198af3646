// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus

/// Cuts a stream of bytes into messages, by the lengths that their headers give.
///
/// Nothing is kept for a message that says it is longer than ``maximumMessage``.
struct FrameBuffer {
    /// The longest message on a link, in bytes.
    static let maximumMessage = 1 << 20

    private var bytes: [UInt8] = []
    private var start = 0
    /// The length of the message that begins at `start`, once that is known.
    private var length: Int?

    /// How many bytes wait.
    var count: Int { bytes.count - start }

    /// Adds what has arrived.
    mutating func append(_ new: some Collection<UInt8>) {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 16)
            start = 0
        } else if start > 1 << 16 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: new)
    }

    /// Takes out the next message; nil if it is not complete.
    /// - Throws: `InvalidArgs` if no message begins here, or one that is too long.
    mutating func next() throws(DBusError) -> [UInt8]? {
        if length == nil {
            switch Message.neededBytes(bytes[start...].prefix(16), limit: Self.maximumMessage) {
            case .needMore: return nil
            case .invalid: throw .invalidArgs("what it sent is no message, or one of more than 1 MiB")
            case .length(let needed): length = needed
            }
        }
        guard let length, count >= length else { return nil }
        let frame = Array(bytes[start..<start + length])
        start += length
        self.length = nil
        return frame
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus

/// Cuts a stream of bytes into messages, according to their headers.
///
/// Whether a message is taken is decided as soon as its header is there: nothing is kept of a message that is
/// skipped, and nothing more is read of one that is refused.
struct FrameBuffer {
    /// The longest message on a link, in bytes.
    static let maximumMessage = 1 << 14
    /// The longest reply to `Fetch`, in bytes.
    static let maximumFetchReply = 320 << 10

    /// What becomes of a message.
    enum Verdict: Equatable {
        /// It is taken if it has at most this many bytes.
        case take(limit: Int)
        /// It is passed over unread if it has at most this many bytes.
        case skip(limit: Int)
        /// It ends the link; the text says what its sender did wrong.
        case refuse(String)
    }

    private var bytes: [UInt8] = []
    private var start = 0
    /// The length of the message that begins at `start`, once it is decided that it is taken.
    private var length: Int?
    /// How many bytes that are still to come are passed over.
    private var skipped = 0

    /// How many bytes are waiting.
    var count: Int { bytes.count - start }

    /// Adds what has arrived.
    mutating func append(_ new: some Collection<UInt8>) {
        let wanted = new.dropFirst(skipped)
        skipped -= new.count - wanted.count
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 16)
            start = 0
        } else if start > 1 << 16 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: wanted)
    }

    /// Takes out the next message; nil if it is not complete yet.
    /// - Parameter judge: decides what becomes of a message; called once for each.
    /// - Throws: `InvalidArgs`, saying what the other side did, if no message begins here, or one that is not taken.
    mutating func next(_ judge: (MessageHeader) -> Verdict) throws(DBusError) -> [UInt8]? {
        while length == nil {
            switch MessageHeader.read(bytes[start...]) {
            case .needs: return nil
            case .invalid: throw .invalidArgs("what it sent is no message")
            case .header(let header): try decide(header, judge(header))
            }
        }
        guard let length, count >= length else { return nil }
        let frame = Array(bytes[start..<start + length])
        start += length
        self.length = nil
        return frame
    }

    private mutating func decide(_ header: MessageHeader, _ verdict: Verdict) throws(DBusError) {
        switch verdict {
        case .refuse(let why): throw .invalidArgs(why)
        case .take(let limit), .skip(let limit):
            guard header.length <= limit else {
                throw .invalidArgs(
                    "it sent a message of \(header.length) bytes, more than the \(limit) allowed")
            }
        }
        guard case .skip = verdict else {
            length = header.length
            return
        }
        skipped = max(0, header.length - count)
        start += header.length - skipped
    }
}

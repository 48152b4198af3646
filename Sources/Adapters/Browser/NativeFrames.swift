// SPDX-License-Identifier: LGPL-2.1-or-later

/// The messages in a stream of native messaging: each is its length, in four bytes as the machine has them, and its bytes.
struct NativeFrames {
    /// A message that is longer than any that is read.
    struct TooLong: Error, Equatable, CustomStringConvertible {
        /// The length that was announced, in bytes.
        let length: UInt32

        var description: String {
            "the browser has announced a message of \(length) bytes, and at most \(NativeFrames.maximumLength) are read."
        }
    }

    /// How long a message may be, in bytes: as much as browsers let a host send.
    static let maximumLength = 1 << 20

    private static let prefix = 4
    private var pending: [UInt8] = []

    /// Takes the bytes that came next. Never more are kept than one message has.
    /// - Returns: the messages that are complete now, in order.
    /// - Throws: `TooLong`; nothing that follows can be understood then.
    mutating func received(_ bytes: some Sequence<UInt8>) throws(TooLong) -> [[UInt8]] {
        pending += bytes
        var messages: [[UInt8]] = []
        var start = 0
        while let length = length(at: start) {
            guard length <= Self.maximumLength else { throw TooLong(length: length) }
            let body = start + Self.prefix
            guard pending.count - body >= Int(length) else { break }
            messages.append(Array(pending[body..<body + Int(length)]))
            start = body + Int(length)
        }
        pending.removeFirst(start)
        return messages
    }

    private func length(at start: Int) -> UInt32? {
        guard pending.count - start >= Self.prefix else { return nil }
        return pending.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: UInt32.self) }
    }

    /// The message `body` as it is sent.
    static func framed(_ body: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: body.count)) { Array($0) } + body
    }
}

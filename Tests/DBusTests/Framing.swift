// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import TestSupport

@testable import DBus

/// What was read at once.
struct Sent {
    let bytes: [UInt8]
    let numbers: [Int32]

    init(_ bytes: some Sequence<UInt8>, _ numbers: [Int32] = []) {
        (self.bytes, self.numbers) = (Array(bytes), numbers)
    }
}

/// What a framer, which is gone, has made of what was sent.
struct Cut {
    /// What was seen of a message when it was judged.
    struct Header: Equatable {
        let kind: Message.Kind?
        let replySerial: UInt32
        let length: Int
    }

    /// What a link takes.
    static let links = Framer.Limits(header: 2048, message: 320 << 10)

    private(set) var messages: [[UInt8]] = []
    /// The arguments of those that have one, a text.
    private(set) var texts: [String] = []
    /// The descriptors of each.
    private(set) var files: [[OpenFile]] = []
    /// Of all that were asked about.
    private(set) var judged: [Header] = []
    private(set) var error: DBusError?
    private(set) var isWithinMessage = false

    /// Cuts `sent`, which is read in pieces of `size` bytes at most.
    init(
        _ sent: [Sent], in size: Int = 1 << 20, _ limits: Framer.Limits = Cut.links,
        _ judge: (Message) throws(DBusError) -> Framer.Verdict = { _ in .take }
    ) {
        var framer = Framer(limits)
        for one in sent {
            var numbers = one.numbers
            for start in stride(from: 0, to: one.bytes.count, by: size) where error == nil {
                let piece = one.bytes[start..<min(start + size, one.bytes.count)]
                piece.withUnsafeBytes { framer.add($0, numbers) }
                numbers = []
                take(&framer, judge)
            }
            // They are left over if nothing is read any longer.
            for number in numbers { close(number) }
        }
        isWithinMessage = framer.isWithinMessage
    }

    private mutating func take(
        _ framer: inout Framer, _ judge: (Message) throws(DBusError) -> Framer.Verdict
    ) {
        do throws(DBusError) {
            while let message = try framer.next({ (header) throws(DBusError) in
                judged.append(
                    Header(kind: header.kind, replySerial: header.replySerial, length: header.length))
                return try judge(header)
            }) {
                messages.append(message.bytes)
                if let text = Self.text(of: message) { texts.append(text) }
                files.append(message.descriptors.compactMap { OpenFile($0) })
            }
        } catch {
            self.error = error
        }
    }

    private static func text(of message: Message) -> String? {
        guard message.hasSignature("s"), (try? message.checkBody()) != nil else { return nil }
        var reader = MessageReader(message)
        return try? reader.read(String.self)
    }
}

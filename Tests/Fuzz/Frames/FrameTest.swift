// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import FuzzSupport

@testable import HandoffBridge

/// Bytes as they come over a link, in pieces of any size.
enum FrameTest {
    /// What a stream was cut into.
    private struct Frames: Equatable {
        var messages: [[UInt8]] = []
        var left = 0
        /// How many bytes the skipped messages take.
        var skipped = 0
        var hasFailed = false
    }

    /// Judges replies as a link does; the serial number determines what is known of the call.
    private static func judge(_ header: MessageHeader) -> FrameBuffer.Verdict {
        LinkRules.verdict(on: header) { serial in
            switch serial % 4 {
            case 0: .awaited("org.example.Handoff.Peer.Fetch")
            case 1: .awaited("org.example.Handoff.Peer.Offer")
            case 2: .late
            default: .unknown
            }
        }
    }

    /// A message longer than what is kept of the past.
    private static let long = require("a long message") {
        try Coding.encode([.bytes(Array(repeating: 1, count: 70_000))])
    }

    static func run(_ bytes: [UInt8]) {
        var choices = Choices(bytes)
        let (isLong, sizes) = (choices.byte() == 0xFF, choices.bytes(atMost: 15))
        let stream = choices.rest()
        let whole = frames(stream, sizes: [])
        var pieces = frames(stream, sizes: sizes, after: isLong ? [long] : [])
        if isLong { require(pieces.messages.removeFirst() == long, "the long message has changed") }
        require(whole == pieces, "in pieces of \(sizes) it is \(pieces), else \(whole)")
        let kept = whole.messages.reduce(whole.left) { $0 + $1.count }
        require(kept <= stream.count && stream.count - kept <= whole.skipped, "bytes are lost")
        for (index, message) in whole.messages.enumerated() { check(message, isFirst: index == 0) }
    }

    /// What `stream` is cut into when it arrives in pieces of the lengths `sizes`, repeatedly; an empty array
    /// means one piece.
    private static func frames(_ stream: [UInt8], sizes: [UInt8], after first: [[UInt8]] = []) -> Frames {
        var (buffer, frames, rest) = (FrameBuffer(), Frames(), stream[...])
        for message in first {
            buffer.append(message)
            frames.messages.append(
                require("the first message") { try buffer.next { _ in .take(limit: 1 << 17) } } ?? [])
        }
        var piece = 0
        while !rest.isEmpty && !frames.hasFailed {
            let size = sizes.isEmpty ? rest.count : Int(sizes[piece % sizes.count]) + 1
            piece += 1
            buffer.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            do throws(DBusError) {
                while let message = try buffer.next({ header in
                    let verdict = judge(header)
                    if case .skip = verdict { frames.skipped += header.length }
                    return verdict
                }) { frames.messages.append(message) }
            } catch {
                frames.hasFailed = true
            }
            require(buffer.count <= FrameBuffer.maximumFetchReply, "\(buffer.count) bytes wait")
        }
        frames.left = buffer.count + rest.count
        return frames
    }

    private static func check(_ bytes: [UInt8], isFirst: Bool) {
        guard let message = try? Message.demarshal(bytes, limit: FrameBuffer.maximumFetchReply) else {
            return
        }
        let violation = LinkRules.violation(by: message, isFirst: isFirst)
        guard violation == nil else { return }
        require(message.destination == nil && message.sender == nil, "it is addressed")
        require(message.kind != .call || message.path == .root, "it calls another object")
        _ = LinkRules.serves(message.interface)
    }
}

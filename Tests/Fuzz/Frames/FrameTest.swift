// SPDX-License-Identifier: LGPL-2.1-or-later
import FuzzSupport
import Glibc
import LibdbusReference

@testable import DBus
@testable import HandoffBridge

/// Bytes and descriptors as they come by a channel, in pieces of any size.
enum FrameTest {
    /// A message longer than what is kept of the past.
    private static let long: [UInt8] = require("a long message") {
        let call = try Message.call(to: nil, "/", "a.b", "C")
        call.setSerial(4)
        let reply = try Message.reply(to: call)
        var writer = MessageWriter(reply)
        try writer.writeContent(of: .bytes(Array(repeating: 1, count: 70_000)))
        reply.setSerial(1)
        return try reply.marshal()
    }

    static func run(_ bytes: [UInt8]) {
        var choices = Choices(bytes)
        let mode = Mode(rawValue: choices.byte() & 3) ?? .link
        let isLong = mode == .link && choices.byte() == 0xFF
        let sizes = choices.bytes(atMost: 15)
        var sent: [Sent] = []
        if mode.carriesDescriptors {
            while !choices.isAtEnd, sent.count < 32 { sent.append(Sent(&choices)) }
        } else {
            sent = [Sent(bytes: choices.rest())]
        }
        let lowest = lowestFree()
        check(sent, sizes, mode, after: isLong ? long : [])
        require(lowestFree() == lowest, "a descriptor was left open, or closed twice")
    }

    /// The number that a new descriptor would have.
    private static func lowestFree() -> Int32 {
        let number = dup(STDIN_FILENO)
        close(number)
        return number
    }

    private static func check(_ sent: [Sent], _ sizes: [UInt8], _ mode: Mode, after first: [UInt8]) {
        let whole = Cut(sent, mode)
        var pieces = Cut(Sent.pieces(sent, sizes, after: first), mode)
        if !first.isEmpty {
            require(pieces.messages.first?.bytes == first, "the long message has changed")
            pieces.messages.removeFirst()
            pieces.judged.removeFirst()
        }
        if sent.contains(where: { $0.descriptors > 0 }) {
            // That a descriptor is one too many may be seen before or after what has come in the same piece.
            let common = min(whole.messages.count, pieces.messages.count)
            require(whole.messages.prefix(common) == pieces.messages.prefix(common), "\(whole), \(pieces)")
        } else {
            require(whole == pieces, "in pieces of \(sizes) it is \(pieces), else \(whole)")
        }
        let stream = sent.flatMap(\.bytes)
        for cut in [whole, pieces] {
            checkPlaces(cut, stream, mode)
            checkDescriptors(cut, mode)
        }
        if mode == .bus { compare(whole, stream, mode) }
    }

    /// Checks that what was cut out is what was sent, all of it in its order, but for what is passed over.
    private static func checkPlaces(_ cut: Cut, _ stream: [UInt8], _ mode: Mode) {
        var (rest, place, passedOver) = (cut.messages[...], 0, 0)
        while !(cut.isRefused && rest.isEmpty), let start = beginning(of: stream[place...]),
            stream.count - place >= start.length
        {
            let bytes = stream[place..<place + start.length]
            if let next = rest.first, next.bytes[...] == bytes {
                rest.removeFirst()
            } else if !mode.passesOver(start, Array(bytes)) {
                passedOver += 1
            }
            place += start.length
        }
        require(rest.isEmpty, "\(rest) was not sent")
        guard !cut.isRefused else { return }
        // The last one need not have come whole.
        let judged = cut.judged.count(where: { $0.verdict == .passOver })
        require((passedOver...passedOver + 1).contains(judged), "\(passedOver) messages are lost")
        require(cut.isWithinMessage == (place < stream.count), "\(place) of \(stream.count) bytes")
    }

    private static func beginning(of bytes: ArraySlice<UInt8>) -> MessageStart? {
        bytes.count < MessageStart.size ? nil : MessageStart(bytes)
    }

    /// Checks that descriptors are given in their order, each once, and none is lost where nothing is passed over.
    private static func checkDescriptors(_ cut: Cut, _ mode: Mode) {
        let given = cut.messages.flatMap(\.descriptors)
        require(zip(given, given.dropFirst()).allSatisfy(<), "they are given as \(given)")
        if mode == .socket { require(given == Array(0..<given.count), "they are given as \(given)") }
    }

    /// Checks that what libdbus takes for a message is one: a bus passes it on.
    private static func compare(_ cut: Cut, _ stream: [UInt8], _ mode: Mode) {
        guard Libdbus.header(stream) != nil, let start = beginning(of: stream[...]),
            !mode.passesOver(start, stream)
        else { return }
        require(cut.messages.map(\.bytes) == [stream] && !cut.isRefused, "libdbus takes \(stream)")
    }
}

/// The channel by which it comes.
enum Mode: UInt8 {
    /// A link between two devices.
    case link
    /// A socket between two daemons.
    case socket
    /// A bus, which passes on what is longer than is taken.
    case bus
    /// The same with descriptors, where some messages are passed over by what their headers say.
    case choosyBus

    var carriesDescriptors: Bool { self == .socket || self == .choosyBus }

    var limits: Framer.Limits {
        switch self {
        case .link:
            Framer.Limits(header: LinkRules.maximumHeader, message: LinkRules.maximumState)
        case .socket: Framer.Limits(header: 128, message: 256)
        case .bus, .choosyBus: Framer.Limits(header: 128, message: 256, passesOverBad: true)
        }
    }

    /// Whether nobody is asked about the message `bytes`, which begins like this.
    func passesOver(_ start: MessageStart, _ bytes: [UInt8]) -> Bool {
        limits.passesOverBad
            && (start.bodyStart > limits.header || start.length > limits.message
                || bytes.count >= start.bodyStart && (try? MessageHead(start, in: bytes)) == nil)
    }

    /// On a link, the serial number of a reply determines what is known of the call.
    func judge(_ message: Message) throws(DBusError) -> Framer.Verdict {
        switch self {
        case .link:
            return try LinkRules.verdict(on: message) { serial in
                switch serial % 4 {
                case 0: .awaited("org.example.Handoff.Peer.Fetch")
                case 1: .awaited("org.example.Handoff.Peer.Offer")
                case 2: .late
                default: .unknown
                }
            }
        case .socket, .bus: return .take
        case .choosyBus: return message.serial % 2 == 0 ? .passOver : .take
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

private let continuation = "00112233445566778899aabbccddeeff"
private let limits = "org.freedesktop.DBus.Error.LimitsExceeded"

/// Two devices, of which one has a document.
@MainLoop
private final class DocumentPair {
    let origin: TestDevice
    let target: TestDevice
    /// The ends that the origin's broker has kept.
    private(set) var sent: [End] = []
    var about: [String: Value] = ["Name": .string("Letter.odt"), "Size": .uint64(5)]

    /// - Parameter dialledByOrigin: which of them has dialled the link.
    init(dialledByOrigin: Bool = false) async throws {
        (origin, target) = (try await TestDevice.start(), try await TestDevice.start())
        if dialledByOrigin {
            try await origin.pair(with: target)
        } else {
            try await target.pair(with: origin)
        }
        for device in [origin, target] {
            device.broker?.onOpenDocument = { [weak self] _ in
                let pair = try StreamSocket.makeDocumentPair()
                self?.sent.append(End(pair.theirs))
                return PeerOpenDocumentReply(stream: pair.ours, about: self?.about ?? [:])
            }
        }
    }

    /// Opens the document.
    func open() async throws -> (End, about: [String: Value]) {
        let reply = try await target.peer(origin).openDocument(continuation: continuation)
        let about = reply.about
        return (End(reply.stream), about)
    }

    /// Whether no stream is left anywhere.
    var isOver: Bool {
        guard let id = ContinuationID(continuation) else { return false }
        let ofTarget = Stream.Owner(device: target.id, continuation: id, isOrigin: true)
        let ofOrigin = Stream.Owner(device: origin.id, continuation: id, isOrigin: false)
        return !origin.bridge.streams.exist(ofTarget) && !target.bridge.streams.exist(ofOrigin)
    }
}

@Suite("Documents between two bridges", .serialized)
struct DocumentStreamTests {
    @Test(
        "a document crosses the link, whichever side has dialled it; its end is acknowledged, and no stream is counted",
        arguments: [false, true])
    func crossing(dialledByOrigin: Bool) async throws {
        try await onLoop {
            let pair = try await DocumentPair(dialledByOrigin: dialledByOrigin)
            pair.about = [
                "Name": .string("Brief an Mutter.odt"), "Size": .uint64(5),
                "ContentType": .string("text/plain"),
                "Modified": .int64(1_700_000_000_000_000), "Path": .string("/home/me/secret"),
            ]
            let (end, about) = try await pair.open()
            var expected = pair.about
            expected["Path"] = nil
            #expect(about == expected)
            pair.sent[0].write(Array("hello".utf8))
            pair.sent[0].endWriting()
            try await eventually { end.hasEnded() }
            #expect(end.bytes == Array("hello".utf8) && end.ending == 0)
            #expect(!pair.sent[0].hasEnded())
            end.endWriting()
            try await eventually { pair.sent[0].hasEnded() }
            // Nothing came but the byte that was there before.
            #expect(pair.sent[0].ending == 0 && pair.sent[0].bytes.count == 1)
            end.close()
            pair.sent[0].close()
            try await eventually { pair.isOver }
            for device in [pair.origin, pair.target] {
                #expect(device.broker?.events.contains { $0.hasPrefix("stream") } == false)
            }
        }
    }

    @Test(
        "what the origin says about a document is checked",
        arguments: ["Name", "ContentType", "Size", "Modified"])
    func wrongAbout(key: String) async throws {
        try await onLoop {
            let pair = try await DocumentPair()
            pair.about[key] =
                ["Name", "ContentType"].contains(key)
                ? .string(String(repeating: "x", count: 256)) : .string("5")
            await expectError("org.freedesktop.DBus.Error.InvalidArgs") { try await pair.open() }
            try await eventually { pair.sent[0].hasEnded() }
            #expect(pair.sent[0].ending == ECONNRESET)
        }
    }

    @Test("one document at a time goes each way, and the next one right after it")
    func oneAtATime() async throws {
        try await onLoop {
            let pair = try await DocumentPair()
            let (first, _) = try await pair.open()
            await expectError(limits) { try await pair.open() }
            // The other way.
            let other = try await pair.origin.peer(pair.target).openDocument(continuation: continuation)
            let back = End(other.stream)
            #expect(!back.hasEnded())
            pair.sent[0].endWriting()
            try await eventually { first.hasEnded() }
            first.endWriting()
            // The origin's end is not known to be closed anywhere when the next one is asked for.
            let closing = MainLoop.start {
                try await eventually { pair.sent[0].hasEnded() }
                pair.sent[0].close()
            }
            first.close()
            let (second, _) = try await pair.open()
            #expect(!second.hasEnded())
            try await closing.value
        }
    }

    @Test("streams leave the document its place, and it leaves them theirs")
    func besideStreams() async throws {
        try await onLoop {
            let pair = try await DocumentPair()
            var kept: [End] = []
            pair.origin.broker?.onOpenStream = { _ in
                let pair = try StreamSocket.makePair()
                kept.append(End(pair.theirs))
                return pair.ours
            }
            for _ in 0..<Quota.streamsOfPeer {
                kept.append(
                    End(try await pair.target.peer(pair.origin).openStream(continuation: continuation)))
            }
            await expectError(limits) {
                _ = try await pair.target.peer(pair.origin).openStream(continuation: continuation)
                return 0
            }
            let (end, _) = try await pair.open()
            #expect(!end.hasEnded())
        }
    }

    @Test(
        "a broker that goes and leaves something unread has broken the stream, as if it had died",
        arguments: [true, false])
    func left(byOrigin: Bool) async throws {
        try await onLoop {
            let pair = try await DocumentPair()
            let (end, _) = try await pair.open()
            pair.sent[0].write([1, 2, 3])
            pair.sent[0].endWriting()
            if byOrigin {
                // Its end may come after the bytes.
                try await eventually { end.hasEnded() && end.bytes.count == 3 }
                pair.sent[0].close()
            } else {
                // The bytes are there, but nobody reads them.
                try await eventually { end.hasBytes }
                end.close()
            }
            let other = byOrigin ? end : pair.sent[0]
            try await eventually { other.hasEnded() }
            // What has ended before stays so.
            #expect(other.ending == (byOrigin ? 0 : ECONNRESET))
            try await eventually { pair.isOver }
        }
    }

    @Test(
        "an end before the document's own end is no acknowledgement, even if everything that had come was read"
    )
    func early() async throws {
        try await onLoop {
            let pair = try await DocumentPair()
            let (end, _) = try await pair.open()
            pair.sent[0].write([1, 2, 3])
            try await eventually {
                _ = end.hasEnded()
                return end.bytes.count == 3
            }
            end.close()
            try await eventually { pair.sent[0].hasEnded() }
            #expect(pair.sent[0].ending == ECONNRESET)
            try await eventually { pair.isOver }
        }
    }

    @Test("an origin whose broker dies has broken it, whatever was sent before")
    func death() async throws {
        try await onLoop {
            let pair = try await DocumentPair()
            let (end, _) = try await pair.open()
            pair.sent[0].write([1, 2, 3])
            pair.sent[0].close()
            try await eventually { end.hasEnded() }
            #expect(end.bytes == [1, 2, 3] && end.ending == ECONNRESET)
            try await eventually { pair.isOver }
        }
    }

    @Test(
        "a lost link, Release and the switch break it",
        arguments: ["link", "release", "origin's release", "switch"])
    func breaks(by what: String) async throws {
        try await onLoop {
            let pair = try await DocumentPair()
            let (end, _) = try await pair.open()
            pair.sent[0].write([1, 2, 3])
            try await eventually {
                _ = end.hasEnded()
                return end.bytes.count == 3
            }
            switch what {
            case "link": pair.target.link(with: pair.origin)?.close("for the test")
            case "release": try await pair.target.peer(pair.origin).release(continuation: continuation)
            case "origin's release":
                try await pair.origin.peer(pair.target).release(continuation: continuation)
            default: pair.origin.broker?.setEnabled(false)
            }
            try await eventually { end.hasEnded() && pair.sent[0].hasEnded() }
            #expect(end.ending == ECONNRESET && pair.sent[0].ending == ECONNRESET)
            try await eventually { pair.isOver }
        }
    }
}

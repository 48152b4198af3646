// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import FuzzSupport
import HandoffCore

@testable import HandoffBridge

/// What devices say about themselves: in dictionaries that arrive over a link, in the times of offers, and in
/// announcements.
enum HelloTest {
    static func run(_ bytes: [UInt8]) {
        var choices = Choices(bytes)
        checkTime(choices.integer(), choices.integer())
        checkAnnouncement(bytes)
        let about = choices.about()
        _ = (try? SummaryTime.forLink(about, now: 1), try? SummaryTime.forBus(about, now: 1))
        guard let hello = try? LinkHello(about) else { return }
        let again = require("\(hello) is refused") { try LinkHello(hello.about) }
        require(again == hello, "\(again) was \(hello)")
        require(hello.secret.isEmpty || hello.secret.count == 8, "a secret of \(hello.secret.count) bytes")
        for place in hello.places ?? [] { require(place.address != nil, "\(place) is no address") }
        require(hello.name == PeerText.name(hello.name), "the name “\(hello.name)”")
        _ = require("\(hello) cannot be sent") { try Coding.encode([.properties(hello.about)]) }
    }

    private static func checkAnnouncement(_ bytes: [UInt8]) {
        // The separator occurs in no key, so that the rest may be anything.
        let text =
            [Array("v=1".utf8)]
            + bytes.split(separator: 0, omittingEmptySubsequences: false).map { Array($0) }
        guard let announcement = Announcement(text: text) else { fatalError("\(text) is of this version") }
        require(announcement.tags.count <= 62 && announcement.name.utf8.count <= 200, "\(announcement)")
        require(announcement.name == PeerText.name(announcement.name), "the name “\(announcement.name)”")
        require(
            Announcement(text: announcement.text) == announcement, "\(announcement) is not read as written")
        let name = String(decoding: bytes, as: UTF8.self)
        if let decoded = Base32.decode(name) {
            require(Base32.encode(decoded) == name.lowercased(), "“\(name)” is another name of \(decoded)")
        }
        require(Base32.decode(Base32.encode(bytes)) == bytes, "\(bytes) is not decoded")
    }

    private static func checkTime(_ since: Int64, _ now: Int64) {
        let summary = ["Since": Value.int64(since)]
        let sent = require("an age") { try SummaryTime.forLink(summary, now: now) }
        if case .int64(let age) = sent["Since"] { require(age >= 0, "\(age) since \(since)") }
        let received = require("a time") { try SummaryTime.forBus(summary, now: now) }
        guard case .int64(let time) = received["Since"] else { fatalError("no time") }
        require(time >= 1 && time <= max(1, now), "\(time) is after \(now)")
    }
}

extension Choices {
    /// A dictionary with the keys of a `Hello` and others, mostly of the right types.
    fileprivate mutating func about() -> [String: Value] {
        properties(keys: ["Paired", "Secret", "Name", "Type", "Since", "Places"]) { $1.likelyValue(of: $0) }
    }

    private mutating func likelyValue(of key: String) -> Value {
        switch key {
        case "Paired": .boolean(byte() & 1 == 1)
        case "Secret": .bytes(bytes(atMost: 9))
        case "Type": .string(one(of: ["laptop", "server", text(atMost: 7)]))
        case "Since": .int64(integer())
        case "Places": .byteArrays((0..<Int(byte() % 10)).map { _ in bytes(atMost: 19) })
        default: .string(text())
        }
    }
}

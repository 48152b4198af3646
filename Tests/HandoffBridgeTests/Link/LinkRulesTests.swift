// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import TestSupport
import Testing

@testable import HandoffBridge

@Suite("The rules of a link")
struct LinkRulesTests {
    private func call(_ change: (Message) throws -> Void = { _ in }) throws -> Message {
        let message = try Message.call(to: nil, "/", "org.example.Handoff.Peer", "Release")
        try change(message)
        message.setSerial(7)
        return message
    }

    @Test("a plain call is legal, but not as the first message")
    func plain() throws {
        #expect(LinkRules.violation(by: try call(), isFirst: false) == nil)
        #expect(LinkRules.violation(by: try call(), isFirst: true)?.contains("before Hello") == true)
        let hello = try Message.call(to: nil, "/", "org.example.Handoff.Link", "Hello")
        #expect(LinkRules.violation(by: hello, isFirst: true) == nil)
    }

    @Test("a destination, another object, a signal and a call without an answer are not")
    func header() throws {
        let addressed = try call { try $0.setDestination("org.example.Handoff") }
        #expect(LinkRules.violation(by: addressed, isFirst: false)?.contains("org.example.Handoff") == true)
        let elsewhere = try Message.call(
            to: nil, "/org/example/Handoff", "org.example.Handoff.Peer", "Release")
        #expect(LinkRules.violation(by: elsewhere, isFirst: false) != nil)
        let signal = try Message.signal(from: "/", "org.example.Handoff.Peer", "Release")
        #expect(LinkRules.violation(by: signal, isFirst: false) != nil)
        #expect(LinkRules.violation(by: try call { $0.setNoReply() }, isFirst: false) != nil)
        let early = try Message.reply(to: try call())
        #expect(LinkRules.violation(by: early, isFirst: true) != nil)
        #expect(LinkRules.violation(by: early, isFirst: false) == nil)
    }

    /// What `make` makes, with as much text more as makes it `length` bytes, as it arrives.
    private func arrived(_ make: () throws -> Message, length: Int) throws -> Message {
        func filled(_ count: Int) throws -> Message {
            let message = try make()
            var writer = MessageWriter(message)
            try writer.write(String(repeating: "x", count: count))
            message.setSerial(1)
            return message
        }
        return try .demarshal(filled(length - filled(0).marshalledSize).marshal())
    }

    @Test("a message is as long as its kind, and what it answers, allow, or is refused")
    func lengths() throws {
        let question = try call()
        let fetch = ReplyStanding.awaited("org.example.Handoff.Peer.Fetch")
        let other = ReplyStanding.awaited("org.example.Handoff.Peer.Release")
        let kinds: [(make: () throws -> Message, standing: ReplyStanding, limit: Int)] = [
            ({ try Message.reply(to: question) }, fetch, LinkRules.maximumState),
            ({ try Message.reply(to: question) }, other, LinkRules.maximumMessage),
            ({ try Message.error(.invalidArgs("x"), to: question) }, fetch, LinkRules.maximumMessage),
        ]
        for (make, standing, limit) in kinds {
            let longest = try arrived(make, length: limit)
            let verdict = try LinkRules.verdict(on: longest) { _ in standing }
            #expect(longest.length == limit && verdict == .take)
            let longer = try arrived(make, length: limit + 1)
            let error = #expect(throws: DBusError.self) {
                try LinkRules.verdict(on: longer) { _ in standing }
            }
            #expect(error?.message.contains("\(limit) allowed") == true)
        }
    }

    @Test("an answer that comes too late is passed over, one that nobody has asked for is refused")
    func answers() throws {
        let question = try call()
        let reply = try arrived({ try Message.reply(to: question) }, length: 100)
        let verdict = try LinkRules.verdict(on: reply) { _ in .late }
        #expect(verdict == .passOver)
        #expect(throws: DBusError.self) { try LinkRules.verdict(on: reply) { _ in .unknown } }
    }

    @Test("of all interfaces three are served")
    func interfaces() {
        for name in ["Link", "Pairing", "Peer"] { #expect(LinkRules.serves("org.example.Handoff.\(name)")) }
        for name in ["org.example.Handoff.PeerManager", "org.freedesktop.DBus.Peer", "", nil] {
            #expect(!LinkRules.serves(name))
        }
    }

    @Test("Hello is read, and what is of another type is refused by its key")
    func hello() throws {
        let hello = try LinkHello([
            "Paired": .boolean(true), "Secret": .bytes([1, 2, 3, 4, 5, 6, 7, 8]),
            "Name": .string(" a\u{202E}b\n "), "Type": .string("spaceship"), "Other": .uint32(1),
        ])
        #expect(hello.isPaired)
        #expect(hello.secret.count == 8)
        #expect(hello.name == "a\u{FFFD}b")
        #expect(hello.type == "")
        #expect(try LinkHello([:]) == LinkHello(isPaired: false))
        for (key, value) in [
            ("Paired", Value.string("true")), ("Secret", .string("x")), ("Secret", .bytes([1])),
            ("Name", .bytes([65])), ("Type", .boolean(true)),
        ] {
            let error = #expect(throws: HandoffFailure.self) { _ = try LinkHello([key: value]) }
            #expect(error?.code == .invalidArguments)
            #expect(error?.message.contains(key) == true)
        }
    }

    @Test("what is said of oneself is understood on the other side")
    func about() throws {
        let hello = LinkHello(isPaired: true, name: "Büro", type: "desktop")
        #expect(try LinkHello(hello.about) == hello)
        #expect(LinkHello(isPaired: false).about["Name"] == nil)
    }
}

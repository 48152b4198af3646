// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
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

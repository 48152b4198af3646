// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import Testing

@testable import HandoffBridge

@Suite("What is remembered of a peer's offer")
struct PeerOfferTests {
    private let a: ActivityID
    private let b: ActivityID
    private var offer = PeerOffer()
    private let second: Int64 = 1_000_000

    init() throws {
        a = try #require(ActivityID("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"))
        b = try #require(ActivityID("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"))
    }

    private mutating func begin() {
        #expect(offer.offered(a, [:], link: 1, at: 0) == [.offer(a, [:])])
        #expect(offer.nextDeadline(at: 0) == nil)
    }

    @Test("it is told and withdrawn; withdrawing another changes nothing")
    mutating func plain() {
        begin()
        #expect(offer.withdrawn(b) == [])
        #expect(offer.withdrawn(a) == [.withdraw(a)])
        #expect(offer.withdrawn(a) == [])
    }

    @Test("without a link it stays five seconds")
    mutating func linkLost() {
        begin()
        offer.unlinked(at: second)
        #expect(offer.nextDeadline(at: second) == 6 * second)
        #expect(offer.advance(to: 6 * second - 1) == [])
        #expect(offer.advance(to: 6 * second) == [.withdraw(a)])
        #expect(offer.nextDeadline(at: 6 * second) == nil)
    }

    @Test("a link that ends in order takes it along, one that was cut leaves it")
    mutating func ended() {
        begin()
        offer.linked(1, at: 0)
        #expect(offer.ended(1, inOrder: true, at: second) == [.withdraw(a)])
        offer.unlinked(at: second)
        #expect(offer.nextDeadline(at: second) == nil)
        _ = offer.offered(a, [:], link: 2, at: 2 * second)
        offer.linked(2, at: 2 * second)
        #expect(offer.ended(2, inOrder: false, at: 3 * second) == [])
        offer.unlinked(at: 3 * second)
        #expect(offer.nextDeadline(at: 3 * second) == 8 * second)
    }

    @Test("a link whose place another has taken leaves it, however it ends", arguments: [true, false])
    mutating func replacedLink(inOrder: Bool) {
        begin()
        offer.linked(1, at: 0)
        offer.linked(2, at: second)
        #expect(offer.ended(1, inOrder: inOrder, at: second) == [])
        #expect(offer.nextDeadline(at: second) == 2 * second)
        _ = offer.offered(a, [:], link: 2, at: second + 1)
        #expect(offer.ended(1, inOrder: inOrder, at: second + 2) == [])
        #expect(offer.nextDeadline(at: second + 2) == nil)
    }

    @Test("one not yet repeated goes too when the new link ends in order")
    mutating func unrepeated() {
        begin()
        offer.linked(1, at: 0)
        offer.linked(2, at: second)
        #expect(offer.ended(2, inOrder: true, at: second) == [.withdraw(a)])
    }

    @Test("one that came on a link that never counted does not stay for ever")
    mutating func neverLinked() {
        begin()
        #expect(offer.ended(1, inOrder: false, at: second) == [])
        #expect(offer.nextDeadline(at: second) == 6 * second)
        #expect(offer.ended(1, inOrder: true, at: 2 * second) == [.withdraw(a)])
    }

    @Test("on a new link it has to be repeated within a second")
    mutating func newLink() {
        begin()
        offer.unlinked(at: second)
        offer.linked(2, at: 2 * second)
        #expect(offer.nextDeadline(at: 2 * second) == 3 * second)
        #expect(offer.offered(a, [:], link: 2, at: 2 * second + 1) == [.offer(a, [:])])
        #expect(offer.nextDeadline(at: 3 * second) == nil)
        offer.linked(3, at: 4 * second)
        #expect(offer.advance(to: 5 * second) == [.withdraw(a)])
    }

    @Test("an offer that came on the new link before the link counted stays")
    mutating func early() {
        begin()
        offer.linked(1, at: 0)
        #expect(offer.nextDeadline(at: 0) == nil)
    }

    @Test("of more than ten a second the latest is told when it is time")
    mutating func rate() {
        for time in 0..<10 { #expect(offer.offered(a, [:], link: 1, at: Int64(time)).count == 1) }
        #expect(offer.offered(a, ["n": .uint32(11)], link: 1, at: 10) == [])
        #expect(offer.offered(b, ["n": .uint32(12)], link: 1, at: 11) == [])
        #expect(offer.nextDeadline(at: 11) == second)
        #expect(offer.advance(to: second) == [.offer(b, ["n": .uint32(12)])])
        #expect(offer.nextDeadline(at: second) == nil)
    }

    @Test("withdrawing one that was not told yet withdraws the one that the broker knows")
    mutating func withdrawUntold() {
        for time in 0..<10 { _ = offer.offered(a, [:], link: 1, at: Int64(time)) }
        #expect(offer.offered(b, [:], link: 1, at: 11) == [])
        #expect(offer.withdrawn(b) == [.withdraw(a)])
        #expect(offer.advance(to: 2 * second) == [])
    }

    @Test("a new broker is told again")
    mutating func broker() {
        begin()
        #expect(offer.brokerAppeared(at: 5 * second) == [.offer(a, [:])])
        #expect(offer.withdrawn(a) == [.withdraw(a)])
        #expect(offer.brokerAppeared(at: 9 * second) == [])
    }

    @Test("one that the broker refuses counts for nothing, and neither does what it was to replace")
    mutating func refused() {
        begin()
        _ = offer.offered(b, [:], link: 1, at: 1)
        #expect(offer.refused(a, [:]) == [])
        #expect(offer.refused(b, [:]) == [.withdraw(a)])
        #expect(offer.brokerAppeared(at: second) == [])
    }

    @Test("one that the broker has taken, and refuses later, is withdrawn itself")
    mutating func refusedOnceTaken() {
        begin()
        _ = offer.offered(b, [:], link: 1, at: 1)
        offer.taken(b)
        _ = offer.offered(b, ["n": .uint32(1)], link: 1, at: 2)
        #expect(offer.refused(b, ["n": .uint32(1)]) == [.withdraw(b)])
    }

    @Test("one that was told anew since is not over when the former summary is refused")
    mutating func refusedLate() {
        begin()
        _ = offer.offered(a, ["n": .uint32(1)], link: 1, at: 1)
        #expect(offer.refused(a, [:]) == [])
        #expect(offer.refused(a, ["n": .uint32(1)]) == [.withdraw(a)])
    }

    @Test("the time of a summary is an age on a link, and never absurd")
    func times() throws {
        let now: Int64 = 1_700_000_000_000_000
        func age(_ since: Int64) throws -> Value? {
            try SummaryTime.forLink(["Since": .int64(since)], now: now)["Since"]
        }
        func since(_ age: Int64) throws -> Value? {
            try SummaryTime.forBus(["Since": .int64(age)], now: now)["Since"]
        }
        #expect(try age(now - 5) == .int64(5))
        #expect(try age(now + 5) == .int64(0))
        #expect(try age(0) == nil)
        #expect(try age(.min) == .int64(.max))
        #expect(try since(5) == .int64(now - 5))
        #expect(try since(-5) == .int64(now))
        #expect(try since(.max) == .int64(1))
        #expect(try since(.min) == .int64(now))
        #expect(try SummaryTime.forBus(["Title": .string("x")], now: now) == ["Title": .string("x")])
        #expect(throws: HandoffFailure.self) { try SummaryTime.forBus(["Since": .uint64(5)], now: now) }
        #expect(try SummaryTime.forLink(["Used": .int64(now - 5)], now: now) == ["Used": .int64(5)])
        #expect(try SummaryTime.forBus(["Used": .int64(5)], now: now) == ["Used": .int64(now - 5)])
        #expect(throws: HandoffFailure.self) { try SummaryTime.forBus(["Used": .uint64(5)], now: now) }
    }

    @Test("a summary is no larger than it may be, whatever else its message says; its times are times")
    func sizes() throws {
        func check(_ title: Int, besides: Int = 0, _ since: Value = .int64(1)) throws {
            let summary = ["Title": Value.string(String(repeating: "x", count: title)), "Since": since]
            let message = try Message.call(to: nil, "/", "org.example.A", "B")
            var writer = MessageWriter(message)
            try writer.write(summary)
            try writer.write(String(repeating: "y", count: besides))
            try SummaryTime.check(summary, of: message)
        }
        try check(10)
        try check(4000)
        try check(10, besides: 10_000)
        try check(4000, besides: 10_000)
        #expect(throws: HandoffFailure.self) { try check(4096) }
        #expect(throws: HandoffFailure.self) { try check(4096, besides: 10) }
        #expect(throws: HandoffFailure.self) { try check(10, .uint64(5)) }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import Testing

@testable import HandoffBridge

@Suite("What is remembered of a peer's offer being sent here")
struct PeerInvitationTests {
    private let (a, b): (ActivityID, ActivityID)
    private var offer = PeerOffer()
    private let second: Int64 = 1_000_000

    init() throws {
        a = try #require(ActivityID("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"))
        b = try #require(ActivityID("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"))
        #expect(offer.offered(a, [:], link: 1, at: 0) == [.offer(a, [:])])
    }

    @Test("it is told at once if it is what the peer offers, and otherwise refused")
    mutating func plain() {
        #expect(offer.invited(b, at: 0) == nil)
        #expect(offer.invited(a, at: 0) == [.invite(a, at: 0)])
        #expect(offer.nextDeadline(at: 0) == nil)
        #expect(offer.withdrawn(a) == [.withdraw(a)])
        #expect(offer.invited(a, at: 2 * second) == nil)
    }

    @Test("of several within a second one more is told, when the second is over")
    mutating func rate() {
        #expect(offer.invited(a, at: 0) == [.invite(a, at: 0)])
        for time in 1..<100 { #expect(offer.invited(a, at: Int64(time)) == []) }
        #expect(offer.nextDeadline(at: 100) == second)
        #expect(offer.advance(to: second) == [.invite(a, at: 0)])
        #expect(offer.nextDeadline(at: second) == nil)
        #expect(offer.advance(to: 3 * second) == [])
    }

    @Test("each broker is told when it was sent last, the first and the next ones alike")
    mutating func time() {
        #expect(offer.invited(a, wall: 7, at: 0) == [.invite(a, at: 7)])
        _ = offer.offered(a, ["n": .uint32(1)], link: 1, at: 2)
        #expect(offer.brokerAppeared(at: 2 * second).last == .invite(a, at: 7))
        #expect(offer.invited(a, wall: 9, at: 2 * second) == [])
        #expect(offer.invited(a, wall: 11, at: 2 * second) == [])
        #expect(offer.advance(to: 3 * second) == [.invite(a, at: 11)])
        #expect(offer.brokerAppeared(at: 4 * second).last == .invite(a, at: 11))
    }

    @Test("it is told behind its offer, if that has to wait")
    mutating func behindOffer() {
        for time in 1..<10 { _ = offer.offered(a, [:], link: 1, at: Int64(time)) }
        #expect(offer.offered(b, [:], link: 1, at: 10) == [])
        #expect(offer.invited(b, at: 11) == [])
        #expect(offer.nextDeadline(at: 11) == second)
        #expect(offer.advance(to: second) == [.offer(b, [:]), .invite(b, at: 0)])
    }

    @Test("another summary leaves it, another activity ends it")
    mutating func newOffer() {
        #expect(offer.invited(a, at: 0) == [.invite(a, at: 0)])
        #expect(offer.invited(a, at: 1) == [])
        #expect(offer.offered(a, ["n": .uint32(1)], link: 1, at: 2).count == 1)
        #expect(offer.nextDeadline(at: 2) == second)
        #expect(offer.offered(b, [:], link: 1, at: 3) == [.offer(b, [:])])
        #expect(offer.nextDeadline(at: 3) == nil)
    }

    @Test("a new broker is told again, unless somebody here has begun to continue it")
    mutating func newBroker() {
        #expect(offer.invited(a, at: 0) == [.invite(a, at: 0)])
        #expect(offer.brokerAppeared(at: 2 * second) == [.offer(a, [:]), .invite(a, at: 0)])
        offer.invitationEnded(b)
        #expect(offer.brokerAppeared(at: 4 * second) == [.offer(a, [:]), .invite(a, at: 0)])
        offer.invitationEnded(a)
        #expect(offer.brokerAppeared(at: 6 * second) == [.offer(a, [:])])
    }

    @Test("nothing is told of a peer that is muted meanwhile")
    mutating func muted() {
        #expect(offer.invited(a, at: 0) == [.invite(a, at: 0)])
        #expect(offer.invited(a, at: 1) == [])
        offer.invitationEnded()
        #expect(offer.nextDeadline(at: 1) == nil)
        #expect(offer.advance(to: 5 * second) == [])
    }
}

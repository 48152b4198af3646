// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import Testing

@testable import HandoffBridge

@Suite("What a peer has left here before it slept")
struct PeerParkingTests {
    private let a: ActivityID
    private let b: ActivityID
    private var offer = PeerOffer()
    private let second: Int64 = 1_000_000
    private let payload: PackedProperties
    private var parked: PeerOffer.Parked { PeerOffer.Parked(payload: payload, until: 100 * second) }

    init() throws {
        a = try #require(ActivityID("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"))
        b = try #require(ActivityID("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"))
        payload = try PackedProperties(["Title": .string("Letter")])
        offer.linked(1, at: 0)
        _ = offer.offered(a, [:], link: 1, at: 0)
    }

    private mutating func leave() {
        #expect(offer.left(a, [:], parked, link: 1, at: second) == [.park(a, [:], payload)])
    }

    @Test("stays when the link ends, in whatever way", arguments: [true, false])
    mutating func linkEnded(inOrder: Bool) {
        leave()
        #expect(offer.ended(1, inOrder: inOrder, at: 2 * second) == [])
        offer.unlinked(at: 2 * second)
        #expect(offer.nextDeadline(at: 2 * second) == 100 * second)
        #expect(offer.advance(to: 100 * second) == [.withdraw(a)])
    }

    @Test("is what the peer offers again once it is linked, or goes after a second")
    mutating func linkedAgain() {
        leave()
        offer.unlinked(at: 2 * second)
        var other = offer
        offer.linked(2, at: 50 * second)
        #expect(offer.offered(a, [:], link: 2, at: 50 * second) == [.offer(a, [:])])
        #expect(offer.parked == nil)
        #expect(offer.nextDeadline(at: 50 * second) == nil)
        other.linked(2, at: 50 * second)
        #expect(other.nextDeadline(at: 50 * second) == 51 * second)
        #expect(other.advance(to: 51 * second) == [.withdraw(a)])
    }

    @Test("is told to another broker, with its state")
    mutating func anotherBroker() {
        leave()
        offer.unlinked(at: 2 * second)
        #expect(offer.brokerAppeared(at: 3 * second) == [.park(a, [:], payload)])
    }

    @Test("comes once in ten seconds, however many offers there were")
    mutating func rate() {
        leave()
        #expect(offer.left(b, [:], parked, link: 1, at: 10 * second) == nil)
        #expect(offer.parked?.until == 100 * second)
        #expect(offer.left(b, [:], parked, link: 1, at: 11 * second) == [.park(b, [:], payload)])
        for _ in 1...20 { _ = offer.offered(a, [:], link: 1, at: 21 * second) }
        #expect(offer.left(b, [:], parked, link: 1, at: 21 * second) == [.park(b, [:], payload)])
    }

    @Test("goes when the broker does not take it, and when others have left something later")
    mutating func refused() {
        leave()
        var other = offer
        #expect(offer.refused(a, [:]) == [.withdraw(a)])
        #expect(other.dropParked(b) == [])
        #expect(other.dropParked(a) == [.withdraw(a)])
        #expect(other.dropParked() == [])
        #expect(other.offered(a, [:], link: 1, at: second) == [.offer(a, [:])])
        #expect(other.dropParked() == [])
    }
}

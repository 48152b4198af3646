// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import Testing

@testable import HandoffBridge

@Suite("All that a peer offers")
struct PeerOffersTests {
    private var offers = PeerOffers()
    private let second: Int64 = 1_000_000

    init() { offers.linked(1, at: 0) }

    private func id(_ number: Int) throws -> ActivityID {
        let digits = String(number)
        return try #require(ActivityID(String(repeating: "0", count: 32 - digits.count) + digits))
    }

    @Test("what it has kept for this device stands beside its offer, through links and brokers")
    mutating func beside() throws {
        let (own, kept) = (try id(1), try id(2))
        #expect(try offers.offered(own, [:], isKept: false, link: 1, at: 0) == [.offer(own, [:])])
        #expect(try offers.offered(kept, [:], isKept: true, link: 1, at: 0) == [.offer(kept, [:])])
        #expect(offers.invited(kept, wall: 5, at: 0) == [.invite(kept, at: 5)])
        #expect(offers.invited(try id(3), wall: 5, at: 0) == nil)
        #expect(
            offers.brokerAppeared(at: 2 * second) == [
                .offer(own, [:]), .offer(kept, [:]), .invite(kept, at: 5),
            ])
        offers.unlinked(at: 3 * second)
        #expect(offers.nextDeadline(at: 3 * second) == 8 * second)
        offers.linked(2, at: 4 * second)
        #expect(try offers.offered(own, [:], isKept: false, link: 2, at: 4 * second) == [.offer(own, [:])])
        // What is not repeated on the new link goes.
        #expect(offers.advance(to: 5 * second) == [.withdraw(kept)])
        #expect(offers.nextDeadline(at: 5 * second) == nil)
    }

    @Test("an activity has one place")
    mutating func onePlace() throws {
        _ = try offers.offered(try id(1), [:], isKept: false, link: 1, at: 0)
        _ = try offers.offered(try id(2), [:], isKept: true, link: 1, at: 0)
        for (number, isKept) in [(1, true), (2, false)] {
            #expect(throws: HandoffFailure.self) {
                try offers.offered(try id(number), [:], isKept: isKept, link: 1, at: 0)
            }
        }
        let parked = PeerOffer.Parked(payload: PackedProperties(), until: second)
        #expect(throws: HandoffFailure.self) { try offers.left(try id(2), [:], parked, link: 1, at: 0) }
    }

    @Test("sixteen may be kept, and sixteen come in a second, whatever becomes of them")
    mutating func limits() throws {
        for number in 1...16 {
            _ = try offers.offered(try id(number), [:], isKept: true, link: 1, at: 0)
        }
        #expect(throws: HandoffFailure.self) {
            try offers.offered(try id(17), [:], isKept: true, link: 1, at: 3 * second)
        }
        #expect(offers.withdrawn(try id(1)) == [.withdraw(try id(1))])
        #expect(throws: HandoffFailure.self) {
            try offers.offered(try id(17), [:], isKept: true, link: 1, at: second / 2)
        }
        #expect(try !offers.offered(try id(17), [:], isKept: true, link: 1, at: 3 * second).isEmpty)
        // What the broker refuses takes no place.
        #expect(offers.refused(try id(17), [:]) == [.withdraw(try id(17))])
        #expect(try !offers.offered(try id(18), [:], isKept: true, link: 1, at: 3 * second).isEmpty)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import Testing

@testable import HandoffBridge

/// The same numbers for the same seed.
private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}

@Suite("What is remembered of a peer's offer, whatever happens")
struct PeerOfferPropertyTests {
    /// What the broker has been told.
    private struct Broker {
        var offered: ActivityID?
        var offers: [Int64] = []
        var invitations: [Int64] = []

        mutating func hear(_ actions: [PeerOffer.Action], at now: Int64) {
            for action in actions {
                switch action {
                case .offer(let id, _):
                    offered = id
                    offers.append(now)
                // How often something is left is limited by itself.
                case .park(let id, _, _): offered = id
                case .withdraw: offered = nil
                case .invite(let id, _):
                    #expect(id == offered)
                    invitations.append(now)
                }
            }
        }
    }

    private func step(
        _ offer: inout PeerOffer, _ ids: [ActivityID], at now: Int64, _ numbers: inout Numbers
    ) -> [PeerOffer.Action] {
        let id = ids[Int.random(in: ids.indices, using: &numbers)]
        let link = Int.random(in: 1...2, using: &numbers)
        switch Int.random(in: 0..<17, using: &numbers) {
        case 0..<4: return offer.offered(id, [:], link: link, at: now)
        case 4..<9: return offer.invited(id, at: now) ?? []
        case 9: return offer.withdrawn(id)
        case 10: offer.linked(link, at: now)
        case 11: offer.unlinked(at: now)
        case 12: return offer.ended(link, inOrder: numbers.next() & 4 == 0, at: now)
        case 13: offer.invitationEnded(numbers.next() & 4 == 0 ? nil : id)
        case 14: return offer.refused(id, [:])
        case 15:
            let parked = PeerOffer.Parked(payload: PackedProperties(), until: now + 20_000_000)
            return offer.left(id, [:], parked, link: link, at: now) ?? []
        default: break
        }
        return []
    }

    @Test(
        "the broker is told that something was sent only while it has it as the offer, and no more often than allowed",
        arguments: 1...30)
    func invariants(seed: UInt64) throws {
        let ids = try ["a", "b", "c"].map {
            try #require(ActivityID(String(repeating: $0, count: 32)))
        }
        var (numbers, offer, broker) = (Numbers(state: seed), PeerOffer(), Broker())
        var now: Int64 = 0
        for _ in 0..<1000 {
            now += Int64.random(in: 0...300_000, using: &numbers)
            while let deadline = offer.nextDeadline(at: now), deadline <= now {
                broker.hear(offer.advance(to: now), at: now)
            }
            if Int.random(in: 0..<50, using: &numbers) == 0 {
                broker.offered = nil
                broker.hear(offer.brokerAppeared(at: now), at: now)
            } else {
                broker.hear(step(&offer, ids, at: now, &numbers), at: now)
            }
        }
        for (former, next) in zip(broker.invitations, broker.invitations.dropFirst()) {
            #expect(next - former >= 1_000_000)
        }
        for (first, eleventh) in zip(broker.offers, broker.offers.dropFirst(PeerOffer.maximumRate)) {
            #expect(eleventh - first >= 1_000_000)
        }
        #expect(!broker.invitations.isEmpty)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("What a peer has kept for this device while that was away")
struct KeptOffersTests {
    private var machine = RemoteOffers(isEnabled: true)
    private let device: DeviceID
    private let (own, kept, other): (Offer, Offer, Offer)
    private let origin: ActivityID
    private let now = Moment(instant: Instant(microseconds: 0), wall: 100)

    init() throws {
        device = try Example.device(1)
        own = try Example.offer(1)
        kept = try Example.offer(2)
        other = try Example.offer(3)
        origin = try Example.activity(9)
    }

    private mutating func offer(_ offer: Offer, isKept: Bool) -> [RemoteOffers.Action] {
        machine.offer(
            offer, from: device, handlers: [.application(offer.applicationID)],
            keptOf: isKept ? origin : nil)
    }

    private var shown: Set<ActivityID> { Set(machine.entries.map(\.offer.id)) }

    @Test("stands beside what the peer offers, and neither takes the other's place")
    mutating func beside() {
        _ = offer(own, isKept: false)
        _ = offer(kept, isKept: true)
        #expect(shown == [own.id, kept.id])
        #expect(machine.isKept(own.id, of: device) == false)
        #expect(machine.isKept(kept.id, of: device) == true)
        #expect(machine.isKept(other.id, of: device) == nil)
        _ = offer(other, isKept: false)
        #expect(shown == [other.id, kept.id])
        #expect(machine.withdraw(kept.id, from: device) == [.removed(device, kept.id)])
        #expect(shown == [other.id])
        #expect(machine.offers(of: device) == [other])
    }

    @Test("takes the place of the activity that it is the state of, until that changes, or it goes")
    mutating func sameActivity() throws {
        func own(_ revision: UInt64) throws -> Offer { try Example.offer(9, revision: revision) }
        let state = try Example.offer(2, revision: 4)
        _ = machine.offer(try own(4), from: device, handlers: [.application(state.applicationID)])
        #expect(shown == [origin])
        _ = offer(state, isKept: true)
        #expect(shown == [state.id])
        _ = offer(try own(5), isKept: false)
        #expect(shown == [origin, state.id])
        _ = offer(try own(4), isKept: false)
        #expect(shown == [state.id])
        var other = self
        _ = machine.settled(state.id, of: device)
        #expect(shown.isEmpty, "what was put aside does not come back as what is offered to all")
        _ = other.offer(try own(5), isKept: false)
        _ = other.machine.settled(state.id, of: device)
        #expect(other.shown == [origin])
    }

    @Test("is shown as sent at the same time on each link, unless the peer is muted")
    mutating func invited() throws {
        _ = offer(kept, isKept: true)
        #expect(try machine.invite(kept.id, from: device, at: now).count == 1)
        #expect(machine.entries.map(\.invitedAt) == [100])
        _ = machine.withdraw(kept.id, from: device)
        _ = offer(kept, isKept: true)
        machine.willInvite(from: 150, by: device)
        _ = try machine.invite(kept.id, from: device, at: Moment(instant: now.instant, wall: 200))
        #expect(machine.entries.map(\.invitedAt) == [100])
        _ = machine.setMuted(true, device)
        #expect(machine.entries.map(\.invitedAt) == [0])
        _ = machine.setMuted(false, device)
        #expect(machine.entries.map(\.invitedAt) == [100])
    }

    @Test("is gone once it was put aside or continued, and that is remembered")
    mutating func settled() throws {
        for isDismissed in [true, false] {
            var one = self
            _ = one.offer(kept, isKept: true)
            if isDismissed {
                #expect(try one.machine.dismiss(kept.id, of: device) == [.removed(device, kept.id)])
            } else {
                _ = one.machine.setContinuing(true, kept.id, of: device)
                #expect(one.machine.settled(kept.id, of: device) == [])
                #expect(one.shown == [kept.id], "what is being continued stays until that is over")
                _ = one.machine.setContinuing(false, kept.id, of: device)
            }
            #expect(one.shown.isEmpty && one.machine.kept.isSettled(kept.id, of: device))
            // The next broker knows it, and shows nothing that it has taken before it did.
            var next = self
            _ = next.offer(kept, isKept: true)
            #expect(next.machine.remember(one.machine.kept.entries) == [.removed(device, kept.id)])
            #expect(next.machine.kept.isSettled(kept.id, of: device))
            _ = next.machine.peerRemoved(device)
            #expect(!next.machine.kept.isSettled(kept.id, of: device))
        }
    }

    @Test("goes with the pairing and with the bridge")
    mutating func gone() {
        _ = offer(own, isKept: false)
        _ = offer(kept, isKept: true)
        var other = self
        #expect(Set(machine.peerRemoved(device)) == [.removed(device, own.id), .removed(device, kept.id)])
        #expect(
            Set(other.machine.allPeersRemoved()) == [.removed(device, own.id), .removed(device, kept.id)])
    }

    @Test("the latest 64 of a device are remembered")
    func bounded() throws {
        var kept = KeptForUs()
        let other = try Example.device(2)
        kept.settled(origin, of: other)
        let ids = try (0..<70).map { try Example.offer(UInt8($0 + 1)).id }
        for id in ids { kept.settled(id, of: device) }
        #expect(kept.entries.map(\.activity) == [origin] + Array(ids.suffix(64)))
        var later = KeptForUs()
        later.invited(ids[69], by: device, at: 7)
        let merged = kept.merged(with: later).entries
        #expect(merged.count == 65 && merged.last?.isSettled == true && merged.last?.invitedAt == 7)
    }
}

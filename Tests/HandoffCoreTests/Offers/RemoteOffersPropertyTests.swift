// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

/// What an observer who sees only the actions would show.
private struct Screen {
    var shown: [DeviceID: [ActivityID: RemoteOffers.Entry]] = [:]
    var hidden: [RemoteOffers.Hidden] = []

    mutating func see(_ actions: [RemoteOffers.Action], of offers: RemoteOffers) {
        #expect(actions.count { $0 == .hiddenChanged } <= 1)
        for action in actions {
            switch action {
            case .added(let entry):
                #expect(shown[entry.device]?[entry.offer.id] == nil)
                shown[entry.device, default: [:]][entry.offer.id] = entry
            case .changed(let entry):
                #expect(shown[entry.device]?[entry.offer.id] != nil)
                #expect(shown[entry.device]?[entry.offer.id] != entry)
                shown[entry.device, default: [:]][entry.offer.id] = entry
            case .removed(let device, let id):
                #expect(shown[device, default: [:]].removeValue(forKey: id) != nil)
            case .hiddenChanged:
                #expect(hidden != offers.hidden)
                hidden = offers.hidden
            }
        }
    }
}

@Suite("Offers of peers, whatever happens")
struct RemoteOffersPropertyTests {
    private func step(
        _ offers: inout RemoteOffers, _ generator: inout SeededGenerator, _ time: inout Int64
    ) throws -> [RemoteOffers.Action] {
        let device = try Example.device(UInt8.random(in: 0...3, using: &generator))
        let number = UInt8.random(in: 0...3, using: &generator)
        let id = try Example.activity(number)
        time += Int64.random(in: 0...3_000_000, using: &generator)
        let now = Instant(microseconds: time)
        let handlers = generator.chance(60) ? [Handler.application(try Example.application())] : []
        switch Int.random(in: 0..<25, using: &generator) {
        case 24: return offers.awake(device)
        case 20..<24:
            let listed = try (0...3).filter { _ in generator.chance(50) }.map { number in
                RemoteOffers.Listed(
                    offer: try Example.offer(number, title: "Listed"),
                    handlers: generator.chance(50) ? handlers : [], parkedAt: generator.chance(20) ? 50 : 0)
            }
            return offers.list(listed, from: device, at: now)
        case 0..<5:
            let title = "Title \(Int.random(in: 0...2, using: &generator))"
            let host = generator.chance(20) ? "example.com" : nil
            let offer = try Example.offer(number, title: title, host: host)
            return offers.offer(offer, from: device, handlers: handlers)
        case 5: return offers.setMuted(generator.chance(20), device)
        case 6: return offers.withdraw(id, from: device)
        case 7: return offers.peerRemoved(device)
        case 8:
            let others = Set(
                try (0...3).filter { _ in generator.chance(50) }.map { try Example.activity($0) })
            return offers.updateHandlers { others.contains($0.id) ? handlers : [] }
        case 9: return (try? offers.dismiss(id, of: device)) ?? []
        case 10..<13: return offers.setContinuing(generator.chance(50), id, of: device)
        case 13: return offers.setEnabled(generator.chance(70))
        case 14: return offers.setShowsUnhandled(generator.chance(30))
        case 15..<18: return (try? offers.invite(id, from: device, at: now)) ?? []
        case 18: return offers.advance(to: now)
        default: return generator.chance(20) ? offers.allPeersRemoved() : []
        }
    }

    @Test(
        "what is shown is what was said to be, one offer a device, what is listed, and those that are being continued",
        arguments: 1...40)
    func invariants(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var offers = RemoteOffers(isEnabled: true)
        var (screen, time): (Screen, Int64) = (Screen(), 0)
        for _ in 0..<400 {
            screen.see(try step(&offers, &generator, &time), of: offers)
            #expect(screen.hidden == offers.hidden)
            for hidden in offers.hidden {
                #expect(offers.entry(hidden.offer.id, of: hidden.device)?.isListed != false)
            }
            #expect(Set(offers.entries) == Set(screen.shown.values.flatMap(\.values)))
            for entries in screen.shown.values {
                #expect(entries.values.count { !$0.isContinuing && !$0.isListed } <= 1)
            }
            for entry in offers.entries {
                #expect(entry.isContinuing || offers.offer(entry.offer.id, of: entry.device) != nil)
                #expect(
                    entry.isListed || entry.isContinuing || offers.offers[entry.device]?.id == entry.offer.id)
            }
            // Only what is offered and not yet taken up is shown as sent.
            for entry in offers.entries where entry.isInvited {
                #expect(!entry.isContinuing && offers.offers[entry.device]?.id == entry.offer.id)
            }
        }
        screen.see(offers.allPeersRemoved(), of: offers)
        #expect(offers.hidden.isEmpty)
        for entry in offers.entries {
            #expect(entry.isContinuing)
            screen.see(offers.setContinuing(false, entry.offer.id, of: entry.device), of: offers)
        }
        #expect(offers.entries.isEmpty && screen.shown.values.allSatisfy(\.isEmpty))
    }
}

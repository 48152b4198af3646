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

/// Two devices that an origin, which sleeps and wakes up, is a peer of, with the state machines of all three: links end in order or
/// are cut, messages are lost with them, brokers are killed, and what was continued is said until it is heard.
private struct Model {
    /// A device that the origin may be continued on.
    private struct Heir {
        var bridge = PeerOffer()
        var broker = RemoteOffers(isEnabled: true)
        /// Whether there is a link with the origin, and its number.
        var link: Int?
        /// Which states of the activity were continued here without the origin.
        var continued: [UInt64] = []
        /// The latest state that was shown here.
        var shown: UInt64 = 0
    }

    private var origin = SessionActivities(isEnabled: true)
    private var heirs = [Heir(), Heir()]
    private var numbers: Numbers
    private var now: Int64 = 1_000_000
    private var links = 0
    private var continuations: UInt64 = 0
    private var isAsleep = false
    private let id: ActivityID
    private let device: DeviceID
    private let details: SessionActivity.Details
    private let handlers: [Handler]
    /// The states that the origin was told were continued.
    private var heard: Set<UInt64> = []
    private(set) var continuedInSleep = 0

    init(_ seed: UInt64) throws {
        numbers = Numbers(state: seed &* 7919 &+ 1)
        id = try #require(ActivityID(String(repeating: "a", count: 32)))
        device = try #require(DeviceID(String(repeating: "d", count: 64)))
        let application = try ApplicationID("com.example.notes")
        handlers = [.application(application)]
        details = SessionActivity.Details(title: "Letter", team: Team(application))
        try origin.create(
            id, connection: ":1.1", type: try ActivityType("com.example.notes.edit"),
            applicationID: application,
            details: details)
        tell(try origin.becomeCurrent(id, at: moment))
        for index in heirs.indices { link(index) }
    }

    private var moment: Moment { Moment(instant: Instant(microseconds: now), wall: now) }

    private mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &numbers) < percent
    }

    // MARK: What is said between them

    private func summary(_ offer: Offer) -> [String: Value] { ["Revision": .uint64(offer.revision)] }

    private mutating func tell(_ actions: [SessionActivities.Action]) {
        for action in actions {
            for index in heirs.indices where heirs[index].link != nil {
                switch action {
                case .offer(let offer): hear(offer, index)
                case .withdraw(let id): perform(heirs[index].bridge.withdrawn(id), index)
                case .currentChanged, .invalidated: break
                }
            }
        }
    }

    private mutating func hear(_ offer: Offer, _ index: Int) {
        guard let link = heirs[index].link else { return }
        perform(heirs[index].bridge.offered(offer.id, summary(offer), link: link, at: now), index)
    }

    private mutating func perform(_ actions: [PeerOffer.Action], _ index: Int) {
        for action in actions {
            switch action {
            case .offer(_, let summary): show(summary, index, parkedAt: 0)
            case .park(_, let summary, _): show(summary, index, parkedAt: now)
            case .withdraw(let id): _ = heirs[index].broker.withdraw(id, from: device)
            case .invite: break
            }
        }
    }

    private mutating func show(_ summary: [String: Value], _ index: Int, parkedAt: Int64) {
        guard case .uint64(let revision)? = summary["Revision"], let activity = origin[id] else { return }
        let offer = Offer(
            id: id, type: activity.type, title: "Letter", applicationID: activity.applicationID,
            team: details.team, revision: revision, since: 1)
        _ = heirs[index].broker.offer(offer, from: device, handlers: handlers, parkedAt: parkedAt)
        check(index)
    }

    /// What is shown is never older than what was shown, and never what was continued here already.
    private mutating func check(_ index: Int) {
        guard let entry = heirs[index].broker.entry(id, of: device) else { return }
        #expect(entry.offer.revision >= heirs[index].shown)
        #expect(
            !heirs[index].continued.contains(entry.offer.revision) || heard.contains(entry.offer.revision))
        heirs[index].shown = entry.offer.revision
    }

    // MARK: What happens

    private mutating func link(_ index: Int) {
        guard !isAsleep, heirs[index].link == nil else { return }
        links += 1
        heirs[index].link = links
        heirs[index].bridge.linked(links, at: now)
        if let offered = origin.offered { hear(offered, index) }
        for entry in heirs[index].broker.untold(by: device, at: moment.instant) where chance(80) {
            let isHeard = try? origin.continuedParked(
                entry.activity, entry.continuation, revision: entry.revision, at: moment)
            heard.insert(entry.revision)
            tell(isHeard?.actions ?? [])
            // The answer may be lost with the link.
            if chance(80) {
                _ = heirs[index].broker.settled(entry)
                check(index)
            } else {
                return unlink(index, inOrder: false)
            }
        }
    }

    private mutating func unlink(_ index: Int, inOrder: Bool) {
        guard let link = heirs[index].link else { return }
        heirs[index].link = nil
        perform(heirs[index].bridge.ended(link, inOrder: inOrder, at: now), index)
        heirs[index].bridge.unlinked(at: now)
    }

    private mutating func sleep() throws {
        guard !isAsleep else { return }
        let (parked, actions) = origin.park(at: moment)
        tell(actions)
        isAsleep = true
        for index in heirs.indices {
            if let parked, let link = heirs[index].link, chance(80) {
                let left = PeerOffer.Parked(
                    payload: try PackedProperties(["Revision": .uint64(parked.revision)]),
                    until: now + PeerOffer.parkedTime)
                perform(heirs[index].bridge.left(id, summary(parked), left, link: link, at: now) ?? [], index)
            }
            unlink(index, inOrder: chance(70))
        }
    }

    private mutating func `continue`(_ index: Int) throws {
        guard let entry = heirs[index].broker.entry(id, of: device), entry.isParked else { return }
        continuations += 1
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: continuations >> ($0 * 8)) }
        let continuation = try #require(
            ContinuationID(bytes: bytes + [UInt8](repeating: UInt8(index), count: 8)))
        #expect(!heirs[index].continued.contains(entry.offer.revision))
        heirs[index].continued.append(entry.offer.revision)
        continuedInSleep += 1
        _ = heirs[index].broker.continuedParked(
            ParkedContinuations.Entry(
                device: device, activity: id, continuation: continuation, revision: entry.offer.revision),
            at: moment.instant)
        #expect(heirs[index].broker.entry(id, of: device) == nil)
    }

    /// The origin's user goes on with it there, whatever became of it: its state may be left and continued once more.
    private mutating func takeUp() throws {
        for index in heirs.indices { heirs[index].continued.removeAll { heard.contains($0) } }
        tell(try origin.becomeCurrent(id, at: moment))
    }

    mutating func step() throws {
        now += Int64.random(in: 1000...4_000_000, using: &numbers)
        for index in heirs.indices {
            while let deadline = heirs[index].bridge.nextDeadline(at: now), deadline <= now {
                perform(heirs[index].bridge.advance(to: now), index)
            }
        }
        tell(origin.advance(to: moment))
        let index = Int.random(in: 0..<2, using: &numbers)
        switch Int.random(in: 0..<10, using: &numbers) {
        case 0, 1:
            if !isAsleep { tell(try origin.update(id, details: details, payloadChanged: true, at: moment)) }
        case 2: if !isAsleep { try takeUp() }
        case 3: unlink(index, inOrder: false)
        case 4: link(index)
        case 5: try sleep()
        case 6: isAsleep = false
        case 7, 8: try `continue`(index)
        default:
            // The bridge is killed with the broker of this device half of the time: then both know nothing.
            guard chance(30) else { return }
            let continued = heirs[index].broker
            heirs[index].broker = RemoteOffers(isEnabled: true)
            for entry in [continued].flatMap({ broker in
                var broker = broker
                return broker.untold(by: device, at: moment.instant)
            }) {
                // What is forgotten with it is offered again: its user may continue it once more.
                heirs[index].continued.removeAll { $0 == entry.revision }
            }
            heirs[index].shown = 0
            perform(heirs[index].bridge.brokerAppeared(at: now), index)
        }
    }

    /// All are awake and linked: what was not continued as it is now is offered everywhere, and nothing else is.
    mutating func settle() {
        isAsleep = false
        for _ in 1...20 {
            now += 10_000_000
            for index in heirs.indices {
                perform(heirs[index].bridge.advance(to: now), index)
                link(index)
                if !heirs[index].broker.untold(by: device, at: moment.instant).isEmpty {
                    unlink(index, inOrder: false)
                }
            }
            tell(origin.advance(to: moment))
        }
        for index in heirs.indices {
            link(index)
            perform(heirs[index].bridge.advance(to: now + 2_000_000), index)
            let entry = heirs[index].broker.entry(id, of: device)
            #expect(entry?.offer.revision == origin.offered?.revision)
            #expect(entry?.isParked != true)
        }
        // It goes on somewhere, or it is offered.
        let revision = origin[id]?.revision ?? 0
        #expect(origin.offered != nil || heard.contains(revision))
    }
}

@Suite("Sleep, links and continuations in any order")
struct ParkingModelTests {
    @Test(
        "an activity that is left elsewhere is continued once with the state that was shown, or is still offered",
        arguments: 1...100)
    func model(seed: UInt64) throws {
        var continued = 0
        for run in 0..<100 {
            var model = try Model(seed * 1000 + UInt64(run))
            for _ in 1...40 { try model.step() }
            model.settle()
            continued += model.continuedInSleep
        }
        #expect(continued > 0)
    }
}

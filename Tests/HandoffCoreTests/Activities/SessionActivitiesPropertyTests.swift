// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

/// What an observer who sees only the actions believes, which must never turn out to be wrong.
private struct Peers {
    var offered: Offer?
    var current: ActivityID?
    var invalidated: Set<ActivityID> = []
    var lastOffer: [ActivityID: Instant] = [:]

    mutating func hear(_ actions: [SessionActivities.Action], at now: Moment) {
        for action in actions {
            switch action {
            case .offer(let offer):
                #expect(offer != offered)
                #expect(!invalidated.contains(offer.id))
                if offered?.id == offer.id, let last = lastOffer[offer.id] {
                    #expect(last.duration(to: now.instant) >= .milliseconds(100))
                }
                lastOffer[offer.id] = now.instant
                offered = offer
            case .withdraw(let id):
                #expect(offered?.id == id)
                offered = nil
            case .currentChanged(let id, let isCurrent):
                #expect((current == id) != isCurrent)
                #expect(!isCurrent || current == nil)
                current = isCurrent ? id : nil
            case .invalidated(let id):
                #expect(invalidated.insert(id).inserted)
                #expect(offered?.id != id)
                if current == id { current = nil }
            }
        }
    }
}

@Suite("Activities of the session, whatever happens")
struct SessionActivitiesPropertyTests {
    private func details(_ generator: inout SeededGenerator, at now: Moment) throws -> SessionActivity.Details
    {
        SessionActivity.Details(
            title: "Title \(Int.random(in: 0...3, using: &generator))", team: try Example.team(),
            isEligibleForHandoff: generator.chance(80), isExcluded: generator.chance(20),
            expirationDate: generator.chance(30)
                ? now.wall + .random(in: -50_000...500_000, using: &generator) : 0)
    }

    private func step(
        _ activities: inout SessionActivities, _ generator: inout SeededGenerator, at now: Moment
    ) throws -> [SessionActivities.Action] {
        let id = try Example.activity(UInt8.random(in: 0...7, using: &generator))
        let connection = try generator.pick([":1.1", ":1.2"])
        let details = try details(&generator, at: now)
        switch Int.random(in: 0..<22, using: &generator) {
        case 0..<4:
            try activities.create(
                id, connection: connection, type: try Example.type(),
                applicationID: try Example.application(),
                details: details)
            return []
        case 4..<9: return try activities.becomeCurrent(id, at: now)
        case 9..<14:
            return try activities.update(id, details: details, payloadChanged: generator.chance(50), at: now)
        case 14: return try activities.resignCurrent(id, at: now)
        case 20: return try activities.leaveCurrent(id, at: now)
        case 21: return try activities.becomeOpen(id, at: now)
        case 15: return try activities.invalidate(id, at: now)
        case 16: return activities.connectionVanished(connection, at: now)
        case 17: return activities.setEnabled(generator.chance(70), at: now)
        default: return activities.advance(to: now)
        }
    }

    @Test(
        "at most one activity is current and offered, never one that is gone, ineligible, excluded or switched off",
        arguments: 1...40)
    func invariants(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var activities = SessionActivities(isEnabled: true)
        var peers = Peers()
        var now = Moment.at(0)
        for _ in 0..<400 {
            let pause = Int64.random(in: 0...60_000, using: &generator)
            now = Moment(
                instant: now.instant.advanced(by: .microseconds(pause)),
                wall: now.wall + pause
                    + (generator.chance(2) ? .random(in: -9_000_000...9_000_000, using: &generator) : 0))
            do {
                let actions = try step(&activities, &generator, at: now)
                peers.hear(actions, at: now)
            } catch let failure as HandoffFailure {
                #expect([.unknownObject, .invalidArguments].contains(failure.code))
            }
            // In reality identifiers are random; here a few are used again and again.
            for id in peers.invalidated where activities[id] != nil { peers.invalidated.remove(id) }
            #expect(activities.offered == peers.offered)
            #expect(activities.current == peers.current)
            let device = try Example.device(UInt8.random(in: 1...2, using: &generator))
            if let left = activities.left { #expect(left.since != 0) }
            if generator.chance(20) { peers.hear(activities.advance(to: now), at: now) }
            if let listed = try? activities.list(for: device, isShared: true, at: now) {
                #expect(listed.count <= Quota.openOfApplication && activities.isEnabled)
                #expect(activities.offered.map { listed.map(\.id).contains($0.id) } ?? true)
                for offer in listed {
                    let details = try #require(activities[offer.id]).details
                    #expect(details.isEligibleForHandoff && !details.isExcluded && offer.lastUsed != 0)
                    #expect(activities.isOffered(offer.id, to: device, isShared: true, at: now.instant))
                }
            }
            if let offered = peers.offered {
                let activity = try #require(activities[offered.id])
                #expect(activities.isEnabled && activities.current == offered.id)
                #expect(activity.details.isEligibleForHandoff && !activity.details.isExcluded)
                if offered != activity.offer { #expect(activities.nextDeadline != nil) }
            }
        }
        peers.hear(
            activities.advance(to: Moment(instant: .at(1_000_000), wall: now.wall)), at: .at(1_000_000))
        if let current = activities.current, let offered = activities.offered {
            #expect(activities[current]?.offer == offered)
        }
    }

    @Test("once everybody has left, nothing is left", arguments: 1...20)
    func leftovers(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var activities = SessionActivities(isEnabled: true)
        for number in 0..<200 { _ = try? step(&activities, &generator, at: .at(Int64(number))) }
        for connection in [":1.1", ":1.2"] { _ = activities.connectionVanished(connection, at: .at(500)) }
        #expect(activities.current == nil && activities.offered == nil && activities.nextDeadline == nil)
        for number in 0...7 { #expect(activities[try Example.activity(UInt8(number))] == nil) }
    }
}

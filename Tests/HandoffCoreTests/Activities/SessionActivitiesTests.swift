// SPDX-License-Identifier: LGPL-2.1-or-later

// This file is long because it is one table of one state machine.

import HandoffCore
import Testing

@Suite("Activities of the session")
struct SessionActivitiesTests {
    private var activities = SessionActivities(isEnabled: true)
    private let first: ActivityID
    private let second: ActivityID
    private let details: SessionActivity.Details

    init() throws {
        first = try Example.activity(1)
        second = try Example.activity(2)
        details = SessionActivity.Details(title: "Shopping", team: try Example.team())
        try create(first, in: &activities)
        try create(second, in: &activities)
    }

    private func create(
        _ id: ActivityID, connection: String = ":1.1", in activities: inout SessionActivities
    ) throws {
        try activities.create(
            id, connection: connection, type: try Example.type(), applicationID: try Example.application(),
            details: details)
    }

    private func offer(_ id: ActivityID, in activities: SessionActivities) throws -> SessionActivities.Action
    {
        .offer(try #require(activities[id]).offer)
    }

    @Test("an activity that becomes current is offered, dated then")
    func becomeCurrent() throws {
        var activities = activities
        let actions = try activities.becomeCurrent(first, at: .at(5))
        #expect(try actions == [offer(first, in: activities), .currentChanged(first, isCurrent: true)])
        #expect(activities.offered?.since == Moment.at(5).wall)
        #expect(activities.current == first)
    }

    @Test("using an activity is told with its changes, and by itself every five minutes")
    func used() throws {
        var activities = activities
        _ = try activities.becomeCurrent(first, at: .at(0))
        #expect(activities.offered?.lastUsed == Moment.at(0).wall)
        #expect(try activities.becomeCurrent(first, at: .at(1000)) == [])
        #expect(activities.nextDeadline == Moment.at(300_000).instant)
        #expect(try activities.use(first, at: .at(200_000)) == [])
        #expect(activities.nextDeadline == Moment.at(300_000).instant)
        let later = activities.advance(to: .at(300_000))
        #expect(try later == [offer(first, in: activities)])
        #expect(activities.offered?.lastUsed == Moment.at(200_000).wall)
        #expect(activities.offered?.since == Moment.at(0).wall)
        #expect(activities.nextDeadline == nil, "nothing wakes up while it is not used")
        var renamed = details
        renamed.title = "Renamed"
        let changed = try activities.update(
            first, details: renamed, payloadChanged: true, isUsed: true, at: .at(301_000))
        #expect(try changed == [offer(first, in: activities)])
        #expect(activities.offered?.lastUsed == Moment.at(301_000).wall)
        #expect(activities.nextDeadline == nil)
    }

    @Test("forty minutes of writing count as use, and what others change does not")
    func writing() throws {
        var activities = activities
        _ = try activities.becomeCurrent(first, at: .at(0))
        for minute in 1...40 {
            _ = try activities.update(
                first, details: details, payloadChanged: true, isUsed: true, at: .at(Int64(minute) * 60_000))
        }
        _ = try activities.update(first, details: details, payloadChanged: true, at: .at(2_500_000))
        #expect(activities.offered?.lastUsed == Moment.at(2_400_000).wall)
        #expect(activities.offered?.since == Moment.at(0).wall)
    }

    @Test(
        "an activity of an application that is excluded is withdrawn, stays current, and is offered again afterwards"
    )
    func excluded() throws {
        var activities = activities
        _ = try activities.becomeCurrent(first, at: .at(0))
        var details = details
        details.isExcluded = true
        #expect(
            try activities.update(first, details: details, payloadChanged: true, at: .at(1)) == [
                .withdraw(first)
            ])
        #expect(activities.current == first && activities.offered == nil)
        #expect(try activities.becomeCurrent(first, at: .at(2)) == [])
        _ = try activities.resignCurrent(first, at: .at(3))
        #expect(try activities.becomeCurrent(first, at: .at(4)) == [.currentChanged(first, isCurrent: true)])
        let actions = try activities.update(first, details: self.details, payloadChanged: true, at: .at(5))
        #expect(try actions == [offer(first, in: activities)])
    }

    @Test("becoming current twice is one offer")
    func becomeCurrentTwice() throws {
        var activities = activities
        _ = try activities.becomeCurrent(first, at: .at(0))
        #expect(try activities.becomeCurrent(first, at: .at(500)) == [])
    }

    @Test("the activity before stops being current, and its offer is replaced without being withdrawn")
    func replacement() throws {
        var activities = activities
        _ = try activities.becomeCurrent(first, at: .at(0))
        let actions = try activities.becomeCurrent(second, at: .at(1))
        #expect(
            try actions == [
                offer(second, in: activities), .currentChanged(first, isCurrent: false),
                .currentChanged(second, isCurrent: true),
            ])
    }

    @Test("an ineligible activity that becomes current withdraws the offer of the one before")
    func ineligibleReplacement() throws {
        var activities = activities
        var hidden = details
        hidden.isEligibleForHandoff = false
        _ = try activities.update(second, details: hidden, payloadChanged: false, at: .at(0))
        _ = try activities.becomeCurrent(first, at: .at(0))
        let actions = try activities.becomeCurrent(second, at: .at(1))
        #expect(
            actions == [
                .withdraw(first), .currentChanged(first, isCurrent: false),
                .currentChanged(second, isCurrent: true),
            ])
        #expect(activities.current == second && activities.offered == nil)
    }

    @Test("eligibility of the current activity takes effect at once, both ways")
    func eligibility() throws {
        var activities = activities
        var hidden = details
        hidden.isEligibleForHandoff = false
        _ = try activities.becomeCurrent(first, at: .at(0))
        #expect(
            try activities.update(first, details: hidden, payloadChanged: false, at: .at(1)) == [
                .withdraw(first)
            ])
        let actions = try activities.update(first, details: details, payloadChanged: false, at: .at(2))
        #expect(try actions == [offer(first, in: activities)])
    }

    @Test("resigning withdraws the offer and leaves the activity valid")
    func resign() throws {
        var activities = activities
        _ = try activities.becomeCurrent(first, at: .at(0))
        #expect(
            try activities.resignCurrent(first, at: .at(1)) == [
                .currentChanged(first, isCurrent: false), .withdraw(first),
            ])
        #expect(activities[first] != nil)
        #expect(try !activities.becomeCurrent(first, at: .at(2)).isEmpty)
    }

    @Test("resigning an activity that is not current does nothing")
    func resignOther() throws {
        var activities = activities
        _ = try activities.becomeCurrent(first, at: .at(0))
        #expect(try activities.resignCurrent(second, at: .at(1)) == [])
        #expect(activities.current == first)
    }

    @Test("an invalid activity can't become current, nor anything else")
    func invalidation() throws {
        var activities = activities
        _ = try activities.becomeCurrent(first, at: .at(0))
        #expect(try activities.invalidate(first, at: .at(1)) == [.withdraw(first), .invalidated(first)])
        #expect(code { _ = try activities.becomeCurrent(first, at: .at(2)) } == .unknownObject)
        #expect(code { _ = try activities.resignCurrent(first, at: .at(2)) } == .unknownObject)
        #expect(code { _ = try activities.invalidate(first, at: .at(2)) } == .unknownObject)
        let details = details
        #expect(
            code { _ = try activities.update(first, details: details, payloadChanged: true, at: .at(2)) }
                == .unknownObject)
    }

    @Test("the activities of a connection that leaves are over, and only those")
    func ownerVanished() throws {
        var activities = activities
        let third = try Example.activity(3)
        try create(third, connection: ":1.2", in: &activities)
        _ = try activities.becomeCurrent(first, at: .at(0))
        let actions = activities.connectionVanished(":1.1", at: .at(1))
        #expect(actions.first == .withdraw(first))
        #expect(Set(actions.dropFirst()) == [.invalidated(first), .invalidated(second)])
        #expect(activities[third] != nil)
        #expect(activities.activities(of: ":1.1").isEmpty)
    }

    @Test("switched off, nothing is offered; switched on, the current activity is")
    func enabled() throws {
        var activities = activities
        _ = try activities.becomeCurrent(first, at: .at(0))
        #expect(activities.setEnabled(false, at: .at(1)) == [.withdraw(first)])
        #expect(try activities.becomeCurrent(second, at: .at(2)).count == 2)
        #expect(activities.offered == nil)
        let actions = activities.setEnabled(true, at: .at(3))
        #expect(try actions == [offer(second, in: activities)])
        #expect(activities.setEnabled(true, at: .at(4)) == [])
    }

    @Test("changing the title changes the offer at most every 100 ms, and the latest wins")
    func titleRate() throws {
        var activities = activities
        _ = try activities.becomeCurrent(first, at: .at(0))
        var changed = details
        for number in 1...5 {
            changed.title = "Title \(number)"
            #expect(
                try activities.update(first, details: changed, payloadChanged: false, at: .at(Int64(number)))
                    == [])
        }
        #expect(activities.nextDeadline == .at(100))
        #expect(activities.advance(to: .at(99)) == [])
        let actions = activities.advance(to: .at(100))
        #expect(try actions == [offer(first, in: activities)])
        #expect(activities.offered?.title == "Title 5")
        #expect(activities.nextDeadline == nil)
        changed.title = "Title 6"
        #expect(
            try activities.update(first, details: changed, payloadChanged: false, at: .at(200)).count == 1)
    }

    @Test("a change of the payload alone grows the revision; no change does not")
    func revision() throws {
        var activities = activities
        _ = try activities.becomeCurrent(first, at: .at(0))
        let before = try #require(activities[first]).revision
        #expect(try activities.update(first, details: details, payloadChanged: false, at: .at(500)) == [])
        #expect(activities[first]?.revision == before)
        _ = try activities.update(first, details: details, payloadChanged: true, at: .at(500))
        #expect(activities[first]?.revision == before + 1)
    }

    @Test(
        "a newer state is told at once to those who are continuing an older one, and otherwise every five minutes"
    )
    func newerState() throws {
        var activities = activities
        _ = try activities.becomeCurrent(first, at: .at(0))
        let details = details
        func change(at time: Int64) throws -> [SessionActivities.Action] {
            try activities.update(first, details: details, payloadChanged: true, at: .at(time))
        }
        #expect(try change(at: 1000) == [], "nobody continues it")
        #expect(activities.nextDeadline == .at(300_000))
        activities.awaited([first])
        #expect(activities.advance(to: .at(1001)) == [], "what was fetched is as new")
        let told = try change(at: 1002)
        #expect(try told == [offer(first, in: activities)])
        activities.awaited([first])
        #expect(try change(at: 1003) == [] && activities.nextDeadline == .at(1102))
        activities.awaited([])
        #expect(activities.nextDeadline == .at(301_002), "it has been continued")
        let later = activities.advance(to: .at(301_002))
        #expect(try later == [offer(first, in: activities)])
        #expect(activities.nextDeadline == nil)
    }

    @Test("why the current activity is not offered is said, by what its user or its author can do about it")
    func whyNot() throws {
        var activities = activities
        #expect(activities.whyNotOffered == "", "there is none")
        _ = try activities.becomeCurrent(first, at: .at(0))
        #expect(activities.whyNotOffered == "")
        for (change, word) in [
            ({ $0.isEligibleForHandoff = false }, "EligibleForHandoff"),
            ({ $0.isExcluded = true }, "excluded"),
            ({ $0.expirationDate = 1 }, "ExpirationDate"),
        ] as [((inout SessionActivity.Details) -> Void, String)] {
            var changed = details
            change(&changed)
            _ = try activities.update(first, details: changed, payloadChanged: false, at: .at(500))
            #expect(activities.whyNotOffered.contains(word))
        }
        _ = activities.setEnabled(false, at: .at(501))
        #expect(activities.whyNotOffered.contains("switched off"))
    }

    @Test("changes of an activity that is not current are told to nobody")
    func quietUpdate() throws {
        var activities = activities
        _ = try activities.becomeCurrent(first, at: .at(0))
        #expect(try activities.update(second, details: details, payloadChanged: true, at: .at(500)) == [])
    }

    @Test("after its date an activity is no longer offered, though it stays current")
    func expiration() throws {
        var activities = activities
        var dated = details
        dated.expirationDate = Moment.at(3000).wall
        _ = try activities.becomeCurrent(first, at: .at(0))
        _ = try activities.update(first, details: dated, payloadChanged: false, at: .at(1000))
        #expect(activities.nextDeadline == .at(3000))
        #expect(activities.advance(to: .at(2999)) == [])
        #expect(activities.advance(to: .at(3000)) == [.withdraw(first)])
        #expect(activities.nextDeadline == nil)
        #expect(activities.current == first)
    }

    @Test("a date in the past withdraws at once, and none or a later one offers again")
    func pastDate() throws {
        var activities = activities
        var dated = details
        dated.expirationDate = 1
        _ = try activities.becomeCurrent(first, at: .at(0))
        #expect(
            try activities.update(first, details: dated, payloadChanged: false, at: .at(1)) == [
                .withdraw(first)
            ])
        dated.expirationDate = -5
        #expect(try activities.update(first, details: dated, payloadChanged: false, at: .at(2)) == [])
        #expect(try activities.update(first, details: details, payloadChanged: false, at: .at(3)).count == 1)
        dated.expirationDate = .max
        _ = try activities.update(first, details: dated, payloadChanged: false, at: .at(500))
        #expect(activities.nextDeadline == .at(60_500))
    }

    @Test("a date is noticed within a minute when the wall clock is set")
    func wallClockSet() throws {
        var activities = activities
        var dated = details
        dated.expirationDate = Moment.at(3_600_000).wall
        _ = try activities.update(first, details: dated, payloadChanged: false, at: .at(0))
        _ = try activities.becomeCurrent(first, at: .at(0))
        #expect(activities.nextDeadline == .at(60_000))
        let later = Moment(instant: .at(60_000), wall: dated.expirationDate)
        #expect(activities.advance(to: later) == [.withdraw(first)])
    }

    @Test("a connection has at most 64 activities, and identifiers are not used twice")
    func quota() throws {
        var activities = activities
        for number in 3...64 { try create(try Example.activity(UInt8(number)), in: &activities) }
        #expect(code { try create(try Example.activity(65), in: &activities) } == .limitsExceeded)
        try create(try Example.activity(65), connection: ":1.2", in: &activities)
        _ = try activities.invalidate(first, at: .at(0))
        try create(try Example.activity(66), in: &activities)
        #expect(code { try create(second, connection: ":1.3", in: &activities) } == .invalidArguments)
    }

    @Test("what is listed for a peer can be fetched by that peer, for a minute, while it is open and shared")
    func listed() throws {
        var activities = activities
        let (peer, other) = (try Example.device(1), try Example.device(2))
        func isOffered(_ id: ActivityID, to device: DeviceID, at time: Int64, isShared: Bool = true) -> Bool {
            activities.isOffered(id, to: device, isShared: isShared, at: .at(time))
        }
        _ = try activities.becomeCurrent(first, at: .at(0))
        _ = try activities.becomeCurrent(second, at: .at(1))
        #expect(try activities.list(for: peer, isShared: true, at: .at(2)).map(\.id) == [second, first])
        #expect(throws: HandoffFailure.self) { try activities.list(for: peer, isShared: true, at: .at(1001)) }
        #expect(isOffered(first, to: peer, at: 60_001) && !isOffered(first, to: peer, at: 60_002))
        #expect(!isOffered(first, to: other, at: 3) && isOffered(second, to: other, at: 3))
        #expect(!isOffered(first, to: peer, at: 3, isShared: false))
        #expect(try activities.list(for: other, isShared: false, at: .at(4)).map(\.id) == [second])
        _ = try activities.resignCurrent(first, at: .at(5))
        #expect(!isOffered(first, to: peer, at: 6))
        #expect(try activities.list(for: peer, isShared: true, at: .at(1002)).map(\.id) == [second])
        _ = activities.setEnabled(false, at: .at(1003))
        #expect(!isOffered(second, to: peer, at: 1004))
        #expect(throws: HandoffFailure.self) { try activities.list(for: peer, isShared: true, at: .at(9000)) }
    }

    @Test("what is left is withdrawn and stays open, until it is resigned, though it is not current then")
    func leaving() throws {
        var activities = activities
        let peer = try Example.device(1)
        _ = try activities.becomeCurrent(first, at: .at(0))
        #expect(
            try activities.leaveCurrent(first, at: .at(1)) == [
                .currentChanged(first, isCurrent: false), .withdraw(first),
            ])
        #expect(try activities.leaveCurrent(first, at: .at(2)) == [])
        // It has never been current.
        #expect(try activities.leaveCurrent(second, at: .at(2)) == [])
        #expect(activities.current == nil && activities.offered == nil)
        #expect(try activities.list(for: peer, isShared: true, at: .at(3)).map(\.id) == [first])
        #expect(activities.isOffered(first, to: peer, isShared: true, at: .at(4)))
        _ = try activities.resignCurrent(first, at: .at(5))
        #expect(!activities.isOffered(first, to: peer, isShared: true, at: .at(6)))
        #expect(try activities.list(for: peer, isShared: true, at: .at(1004)).isEmpty)
    }

    @Test("while nothing is current, what was left last and is open is known; what was resigned is not")
    func leftLast() throws {
        var activities = activities
        #expect(activities.left == nil)
        _ = try activities.becomeCurrent(first, at: .at(0))
        _ = try activities.becomeCurrent(second, at: .at(1))
        #expect(activities.left == nil)
        _ = try activities.leaveCurrent(second, at: .at(2))
        #expect(activities.left?.id == second && activities.offered == nil)
        _ = try activities.resignCurrent(second, at: .at(3))
        #expect(activities.left?.id == first)
        _ = activities.setEnabled(false, at: .at(4))
        #expect(activities.left == nil)
    }

    @Test(
        "what is opened is listed without being current, offered, or what was left, until it is resigned or over"
    )
    func opened() throws {
        var activities = activities
        let peer = try Example.device(1)
        func listed(at time: Int64) throws -> [ActivityID] {
            try activities.list(for: peer, isShared: true, at: .at(time)).map(\.id)
        }
        #expect(try activities.becomeOpen(first, at: .at(0)) == [])
        #expect(activities.current == nil && activities.offered == nil && activities.left == nil)
        #expect(try listed(at: 1) == [first])
        #expect(activities.isOffered(first, to: peer, isShared: true, at: .at(2)))
        _ = try activities.becomeCurrent(second, at: .at(3))
        // It counts as using it, and what is current comes first all the same.
        #expect(try activities.becomeOpen(first, at: .at(4)) == [])
        #expect(activities.current == second && activities.offered?.id == second)
        #expect(try listed(at: 1002) == [second, first])
        #expect(try activities.becomeOpen(second, at: .at(1003)) == [])
        _ = try activities.leaveCurrent(second, at: .at(1004))
        _ = try activities.becomeOpen(first, at: .at(1005))
        #expect(activities.left?.id == second)
        #expect(try listed(at: 2005) == [first, second])
        #expect(try activities.resignCurrent(first, at: .at(2006)) == [])
        #expect(try listed(at: 3006) == [second])
        _ = try activities.becomeOpen(first, at: .at(3007))
        _ = try activities.invalidate(first, at: .at(3008))
        #expect(try listed(at: 4009) == [second])
        #expect(code { _ = try activities.becomeOpen(first, at: .at(4010)) } == .unknownObject)
    }
}

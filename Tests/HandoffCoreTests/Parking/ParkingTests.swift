// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("What was left elsewhere before a machine slept, at its origin")
struct OriginParkingTests {
    private var activities = SessionActivities(isEnabled: true)
    private let id: ActivityID
    private let details: SessionActivity.Details
    private let continuations: [ContinuationID]

    init() throws {
        id = try Example.activity(1)
        continuations = try [1, 2].map { try Example.continuation($0) }
        details = SessionActivity.Details(
            title: "Letter", team: try Example.team(), supportsContinuationStreams: true)
        try activities.create(
            id, connection: ":1.1", type: try Example.type(), applicationID: try Example.application(),
            details: details)
        _ = try activities.becomeCurrent(id, at: .at(0))
    }

    @Test("what is offered is left, without streams; nothing else is")
    mutating func park() throws {
        let parked = try #require(activities.park(at: .at(1)).offer)
        #expect(parked.id == id && parked.revision == activities.offered?.revision)
        #expect(!parked.supportsContinuationStreams)
        _ = try activities.resignCurrent(id, at: .at(2))
        #expect(activities.park(at: .at(3)).offer == nil)
    }

    @Test(
        "what was continued is offered no more until it changes or becomes current", arguments: [true, false])
    mutating func continued(changes: Bool) throws {
        let parked = try #require(activities.park(at: .at(1)).offer)
        let (isNews, actions) = try activities.continuedParked(
            id, continuations[0], revision: parked.revision, at: .at(2))
        #expect(isNews && actions == [.withdraw(id)])
        #expect(activities.current == id && !activities.whyNotOffered.isEmpty)
        // It is said again when the answer was lost.
        #expect(
            try activities.continuedParked(id, continuations[0], revision: parked.revision, at: .at(3)).isNews
                == false)
        _ = try activities.use(id, at: .at(3))
        #expect(activities.offered == nil)
        if changes {
            _ = try activities.update(id, details: details, payloadChanged: true, at: .at(4))
        } else {
            _ = try activities.becomeCurrent(id, at: .at(4))
        }
        #expect(activities.offered?.id == id)
    }

    @Test("what has changed since is offered on; two devices may have continued what was left")
    mutating func changedSince() throws {
        let parked = try #require(activities.park(at: .at(1)).offer)
        _ = try activities.update(id, details: details, payloadChanged: true, at: .at(2))
        for continuation in continuations {
            let (isNews, actions) = try activities.continuedParked(
                id, continuation, revision: parked.revision, at: .at(3))
            #expect(isNews && actions == [])
        }
        // Neither is it news once more, in whatever order they say it again.
        for continuation in continuations {
            #expect(
                try activities.continuedParked(id, continuation, revision: parked.revision, at: .at(4)).isNews
                    == false)
        }
        #expect(activities.offered?.id == id)
    }

    @Test(
        "what else is open is left beside it, the latest used first, and is open no more once it was continued"
    )
    mutating func aside() throws {
        for number: UInt8 in 2...6 {
            let other = try Example.activity(number)
            try activities.create(
                other, connection: ":1.1", type: try Example.type(),
                applicationID: number == 6
                    ? try Example.application("com.example.other") : Example.application(),
                details: details)
            _ = try activities.becomeCurrent(other, at: .at(Int64(number)))
        }
        _ = try activities.becomeCurrent(id, at: .at(7))
        // Of one application three are open: the current one, and those that were used last.
        let aside = try [6, 5, 4].map { try Example.activity($0) }
        #expect(activities.openAside == aside)
        let parked = activities.parkAside(aside[1])
        let left = try #require(parked)
        #expect(left.id == aside[1] && !left.supportsContinuationStreams)
        #expect(activities.parkAside(id) == nil)
        _ = try activities.continuedParked(aside[1], continuations[0], revision: left.revision, at: .at(8))
        #expect(activities.parkAside(aside[1]) == nil && activities.offered?.id == id)
        #expect(throws: HandoffFailure.self) {
            try activities.continuedParked(aside[0], continuations[1], revision: 1, at: .at(8))
        }
    }

    @Test("what was never left anywhere was not continued")
    mutating func neverLeft() throws {
        #expect(throws: HandoffFailure.self) {
            try activities.continuedParked(id, continuations[0], revision: 1, at: .at(1))
        }
        let parked = try #require(activities.park(at: .at(1)).offer)
        #expect(throws: HandoffFailure.self) {
            try activities.continuedParked(id, continuations[0], revision: parked.revision + 1, at: .at(2))
        }
        #expect(activities.offered?.id == id)
    }
}

@Suite("What peers have left here before they slept")
struct ReceivedParkingTests {
    private var offers = RemoteOffers(isEnabled: true)
    private let device: DeviceID
    private let handlers: [Handler]
    private let entry: ParkedContinuations.Entry

    init() throws {
        device = try Example.device(1)
        handlers = [.application(try Example.application())]
        entry = ParkedContinuations.Entry(
            device: device, activity: try Example.activity(1), continuation: try Example.continuation(1),
            revision: 3)
    }

    private mutating func offer(revision: UInt64, parkedAt: Int64 = 0) throws -> [RemoteOffers.Action] {
        offers.offer(
            try Example.offer(revision: revision), from: device, handlers: handlers, parkedAt: parkedAt)
    }

    @Test("it is shown as left until the device offers something again")
    mutating func shown() throws {
        _ = try offer(revision: 1)
        _ = try offer(revision: 3, parkedAt: 50)
        #expect(offers.entries.map(\.parkedAt) == [50])
        #expect(offers.isParked(entry.activity, of: device))
        _ = try offer(revision: 3)
        #expect(offers.entries.map(\.isParked) == [false])
    }

    @Test("what was continued is not shown in that state until its device knows", arguments: [3, 4])
    mutating func continued(revision: UInt64) throws {
        _ = try offer(revision: 3, parkedAt: 50)
        #expect(offers.continuedParked(entry, at: .at(0)) == [.removed(device, entry.activity)])
        #expect(offers.untold(by: device, at: .at(1)) == [entry])
        // Its device is awake, and offers what it has before it is told.
        let actions = try offer(revision: revision)
        #expect(actions.isEmpty == (revision == 3))
        #expect(offers.settled(entry).isEmpty == (revision == 4))
        #expect(offers.untold(by: device, at: .at(1)).isEmpty)
        #expect(offers.entries.count == 1)
    }

    @Test(
        "what was left beside it is listed, until it was continued or its device is there again",
        arguments: [true, false])
    mutating func aside(isContinued: Bool) throws {
        let listed = RemoteOffers.Listed(
            offer: try Example.offer(revision: 3), handlers: handlers, parkedAt: 50)
        guard case .added(let shown)? = offers.list([listed], from: device, at: .at(0)).first else {
            Issue.record("Nothing is shown.")
            return
        }
        #expect(shown.isListed && shown.parkedAt == 50)
        #expect(!offers.isParked(entry.activity, of: device))
        let removed: [RemoteOffers.Action] = [.removed(device, entry.activity)]
        if isContinued {
            #expect(offers.continuedParked(entry, at: .at(1)) == removed)
            #expect(offers.untold(by: device, at: .at(1)) == [entry])
        }
        if isContinued {
            // It may be left here again in the same state by one that was not told.
            #expect(offers.list([listed], from: device, at: .at(2)).isEmpty)
        }
        #expect(offers.awake(device) == (isContinued ? [] : removed))
        #expect(offers.entries.isEmpty)
    }

    @Test(
        "it is told for a day, and of as much of a device as it leaves; not to a device that is paired no more"
    )
    mutating func limits() throws {
        for number in 1...11 {
            let entry = ParkedContinuations.Entry(
                device: device, activity: try Example.activity(1),
                continuation: try Example.continuation(UInt8(number)), revision: UInt64(number))
            _ = offers.continuedParked(entry, at: .at(Int64(number) * 1000))
        }
        #expect(offers.untold(by: device, at: .at(12_000)).map(\.revision) == Array(3...11))
        #expect(offers.untold(by: device, at: .at(86_405_000)).map(\.revision) == Array(6...11))
        _ = offers.peerRemoved(device)
        #expect(offers.untold(by: device, at: .at(12_000)).isEmpty)
    }
}

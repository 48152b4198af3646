// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Continuations at the origin")
struct OriginContinuationsTests {
    private let id: ContinuationID
    private let device: DeviceID
    private let activity: ActivityID

    init() throws {
        id = try Example.continuation(1)
        device = try Example.device(1)
        activity = try Example.activity(1)
    }

    private func fetched() throws -> OriginContinuations {
        var continuations = OriginContinuations()
        try continuations.fetch(activity, for: id, by: device, isOffered: true)
        continuations.sent(id, to: device)
        return continuations
    }

    @Test(
        "what was never sent has not begun: it cannot be continued, has no streams, and ends when it is refused"
    )
    func neverSent() throws {
        var continuations = OriginContinuations()
        try continuations.fetch(activity, for: id, by: device, isOffered: true)
        continuations.offered(activity, at: .at(0))
        continuations.offered(nil, at: .at(0))
        let entry = try #require(continuations.entry(id, of: device))
        #expect(!entry.wasSent && continuations.nextDeadline != nil)
        #expect(code { _ = try continuations.continued(id, by: device) } == .unknownObject)
        #expect(code { try continuations.openStream(id, of: device, to: ":1.1") } == .unknownObject)
        let stranger = try Example.device(2)
        #expect(continuations.refused(id, to: stranger) == [])
        continuations.sent(id, to: stranger)
        #expect(continuations.entry(id, of: device) == entry)
        #expect(continuations.refused(id, to: device) == [.ended(entry)])
        #expect(continuations.entry(id, of: device) == nil && continuations.nextDeadline == nil)
        #expect(continuations.refused(id, to: device) == [])
        continuations.sent(id, to: device)
        #expect(continuations.entry(id, of: device) == nil)
    }

    @Test("what was sent once goes on when it is fetched again and refused")
    func sentBefore() throws {
        var continuations = try fetched()
        try continuations.fetch(activity, for: id, by: device, isOffered: true)
        #expect(continuations.refused(id, to: device) == [])
        try continuations.openStream(id, of: device, to: ":1.1")
        #expect(try continuations.continued(id, by: device).count == 1)
    }

    @Test("streams that a former continuation of the same identifier has left stay when a new one is refused")
    func leftovers() throws {
        var continuations = try fetched()
        for _ in 0..<16 { try continuations.openStream(id, of: device, to: ":1.1") }
        _ = continuations.released(id, by: device)
        try continuations.fetch(activity, for: id, by: device, isOffered: true)
        #expect(continuations.refused(id, to: device).count == 1)
        try continuations.fetch(activity, for: id, by: device, isOffered: true)
        continuations.sent(id, to: device)
        #expect(code { try continuations.openStream(id, of: device, to: ":1.1") } == .limitsExceeded)
    }

    @Test("fetching may be repeated for one continuation")
    func idempotent() throws {
        var continuations = try fetched()
        try continuations.fetch(activity, for: id, by: device, isOffered: true)
        #expect(continuations.entry(id, of: device)?.activity == activity)
    }

    @Test("only what is offered now can be fetched")
    func onlyOffered() throws {
        var continuations = try fetched()
        let other = try Example.activity(2)
        #expect(
            code { try continuations.fetch(activity, for: id, by: device, isOffered: false) }
                == .offerWithdrawn)
        #expect(
            code { try continuations.fetch(other, for: id, by: device, isOffered: true) } == .invalidArguments
        )
    }

    @Test("the delegate is told once that its activity was continued, however often the peer says so")
    func continued() throws {
        var continuations = try fetched()
        let actions = try continuations.continued(id, by: device)
        let entry = try #require(continuations.entry(id, of: device))
        #expect(actions == [.tellWasContinued(entry)])
        #expect(entry.wasContinued)
        #expect(try continuations.continued(id, by: device) == [])
        _ = continuations.released(id, by: device)
        #expect(code { _ = try continuations.continued(id, by: device) } == .unknownObject)
    }

    @Test("a peer has no say about another peer's continuation")
    func otherPeer() throws {
        var continuations = try fetched()
        let stranger = try Example.device(2)
        #expect(code { _ = try continuations.continued(id, by: stranger) } == .unknownObject)
        #expect(continuations.released(id, by: stranger) == [])
        #expect(continuations.entry(id, of: stranger) == nil)
        try continuations.fetch(activity, for: id, by: stranger, isOffered: true)
        _ = continuations.released(id, by: stranger)
        #expect(continuations.entry(id, of: device) != nil)
    }

    @Test("a continuation is over when it is released, its activity is gone, its peer is, or Handoff is off")
    func endings() throws {
        let continuations = try fetched()
        let entry = try #require(continuations.entry(id, of: device))
        var (released, invalidated, removed, disabled) = (
            continuations, continuations, continuations, continuations
        )
        #expect(released.released(id, by: device) == [.released(entry)])
        #expect(released.released(id, by: device) == [])
        #expect(invalidated.activityInvalidated(activity) == [.ended(entry)])
        #expect(removed.peerRemoved(device) == [.ended(entry)])
        #expect(disabled.disabled() == [.ended(entry)])
    }

    @Test("without a link a continuation lives for a minute")
    func linkLost() throws {
        var continuations = try fetched()
        let entry = try #require(continuations.entry(id, of: device))
        continuations.linkLost(to: device, at: .at(0))
        continuations.linkLost(to: device, at: .at(5000))
        #expect(continuations.nextDeadline == .at(60_000))
        #expect(continuations.advance(to: .at(59_999)) == [])
        #expect(continuations.advance(to: .at(60_000)) == [.ended(entry)])
        #expect(continuations.nextDeadline == nil)
    }

    @Test("a link that comes back in time, or a fetch over it, saves the continuation")
    func linkRestored() throws {
        var continuations = try fetched()
        continuations.allLinksLost(at: .at(0))
        continuations.linkRestored(to: device)
        #expect(continuations.nextDeadline == nil)
        continuations.linkLost(to: device, at: .at(1))
        try continuations.fetch(activity, for: id, by: device, isOffered: true)
        #expect(continuations.advance(to: .at(100_000)) == [])
    }

    @Test("a peer has at most eight continuations, counted apart from others; for a ninth the oldest ends")
    func quota() throws {
        var continuations = OriginContinuations()
        for number in 1...8 {
            try continuations.fetch(
                activity, for: try Example.continuation(UInt8(number)), by: device, isOffered: true)
        }
        let (oldest, ninth) = (try Example.continuation(1), try Example.continuation(9))
        let other = try Example.device(2)
        #expect(try continuations.fetch(activity, for: ninth, by: other, isOffered: true) == [])
        #expect(try continuations.fetch(activity, for: oldest, by: device, isOffered: true) == [])
        let ended = try #require(continuations.entry(oldest, of: device))
        let actions = try continuations.fetch(activity, for: ninth, by: device, isOffered: true)
        #expect(actions == [.ended(ended)])
        #expect(continuations.entry(oldest, of: device) == nil)
        #expect(continuations.entry(ninth, of: other) != nil)
        _ = continuations.released(ninth, by: device)
        #expect(try continuations.fetch(activity, for: oldest, by: device, isOffered: true) == [])
    }

    @Test("a connection has sixteen streams at most, over all of its continuations")
    func streams() throws {
        var continuations = try fetched()
        let other = try Example.continuation(2)
        try continuations.fetch(activity, for: other, by: device, isOffered: true)
        continuations.sent(other, to: device)
        for number in 0..<16 {
            try continuations.openStream(number % 3 == 0 ? id : other, of: device, to: ":1.1")
        }
        #expect(code { try continuations.openStream(id, of: device, to: ":1.1") } == .limitsExceeded)
        try continuations.openStream(other, of: device, to: ":1.2")
        continuations.streamClosed(id, of: device)
        #expect(continuations.entry(id, of: device)?.openStreams == 5)
        continuations.streamOpened(id, of: device)
        #expect(continuations.entry(id, of: device)?.openStreams == 6)
        for _ in 0..<20 { continuations.streamClosed(other, of: device) }
        #expect(continuations.entry(other, of: device)?.openStreams == 0)
        continuations.streamOpened(try Example.continuation(3), of: device)
        let stranger = try Example.device(2)
        #expect(code { try continuations.openStream(id, of: stranger, to: ":1.1") } == .unknownObject)
    }

    @Test("what has to make room for a ninth continuation is the oldest without streams")
    func roomForNinth() throws {
        var continuations = try fetched()
        try continuations.openStream(id, of: device, to: ":1.1")
        for number: UInt8 in 2...8 {
            try continuations.fetch(
                activity, for: try Example.continuation(number), by: device, isOffered: true)
        }
        let second = try #require(continuations.entry(try Example.continuation(2), of: device))
        let actions = try continuations.fetch(
            activity, for: try Example.continuation(9), by: device, isOffered: true)
        #expect(actions == [.ended(second)])
    }

    /// A continuation whose activity was offered, but has not been since 0.
    private func unoffered(at start: Int64 = 0) throws -> OriginContinuations {
        var continuations = OriginContinuations()
        continuations.offered(activity, at: .at(start))
        try continuations.fetch(activity, for: id, by: device, isOffered: true)
        continuations.sent(id, to: device)
        continuations.offered(nil, at: .at(start))
        return continuations
    }

    @Test("a continuation whose activity was not offered for five minutes ends")
    func endsUnoffered() throws {
        var continuations = try unoffered()
        #expect(continuations.nextDeadline == .at(300_000))
        #expect(continuations.advance(to: .at(299_999)) == [])
        let entry = try #require(continuations.entry(id, of: device))
        #expect(continuations.advance(to: .at(300_000)) == [.ended(entry)])
        #expect(continuations.nextDeadline == nil)
        #expect(code { try continuations.openStream(id, of: device, to: ":1.1") } == .unknownObject)
    }

    @Test("one whose activity is offered again lives on")
    func offeredAgain() throws {
        var continuations = try unoffered()
        continuations.offered(try Example.activity(2), at: .at(10))
        #expect(continuations.nextDeadline == .at(300_000))
        continuations.offered(activity, at: .at(200_000))
        #expect(continuations.nextDeadline == nil)
        #expect(continuations.advance(to: .at(900_000)) == [])
        continuations.offered(nil, at: .at(900_000))
        continuations.offered(nil, at: .at(950_000))
        #expect(continuations.nextDeadline == .at(1_200_000))
    }

    @Test("one that has open streams ends only when the last of them is closed")
    func endsWithoutStreams() throws {
        var continuations = try unoffered()
        try continuations.openStream(id, of: device, to: ":1.1")
        #expect(continuations.nextDeadline == nil)
        #expect(continuations.advance(to: .at(400_000)) == [])
        continuations.streamOpened(id, of: device)
        continuations.streamClosed(id, of: device)
        #expect(continuations.nextDeadline == nil)
        continuations.streamClosed(id, of: device)
        #expect(continuations.nextDeadline == .at(300_000))
        #expect(continuations.advance(to: .at(400_001)).count == 1)
        #expect(continuations.entry(id, of: device) == nil)
    }
}

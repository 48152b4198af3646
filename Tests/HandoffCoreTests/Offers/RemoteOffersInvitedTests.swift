// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Offers of peers that were sent to this device")
struct RemoteOffersInvitedTests {
    private let device: DeviceID
    private let handlers: [Handler]
    private let (one, two): (ActivityID, ActivityID)
    private var offers = RemoteOffers(isEnabled: true)

    init() throws {
        device = try Example.device(1)
        handlers = [.application(try Example.application())]
        (one, two) = (try Example.activity(1), try Example.activity(2))
        _ = offers.offer(try Example.offer(), from: device, handlers: handlers)
    }

    private static func at(_ seconds: Int64) -> Instant { Instant(microseconds: seconds * 1_000_000) }

    private var isInvited: Bool? { offers.entry(one, of: device)?.isInvited }

    private mutating func invite(at seconds: Int64 = 0) throws {
        let actions = try offers.invite(one, from: device, at: Self.at(seconds))
        #expect(try actions == [.changed(#require(offers.entry(one, of: device)))])
        #expect(isInvited == true)
    }

    @Test("an offer that is sent is shown as sent, until it ends")
    mutating func plain() throws {
        #expect(isInvited == false)
        try invite()
        _ = offers.offer(try Example.offer(title: "New"), from: device, handlers: handlers)
        #expect(isInvited == true, "another title changes nothing")
        _ = offers.withdraw(one, from: device)
        _ = offers.offer(try Example.offer(), from: device, handlers: handlers)
        #expect(isInvited == false)
    }

    @Test("what is sent again is shown as sent later, and what a new broker is told again as it was")
    mutating func again() throws {
        offers.willInvite(from: 7, by: device)
        try invite(at: 1)
        #expect(offers.entry(one, of: device)?.invitedAt == 7)
        try invite(at: 20)
        #expect(offers.entry(one, of: device)?.invitedAt == 20_000_000)
        #expect(offers.setContinuing(true, one, of: device).count == 1)
        #expect(offers.entry(one, of: device)?.invitedAt == 0)
    }

    @Test("only what a peer offers now can be sent, by that peer")
    mutating func foreign() throws {
        for (id, device) in [(two, device), (one, try Example.device(2))] {
            #expect {
                try offers.invite(id, from: device, at: Self.at(0))
            } throws: {
                ($0 as? HandoffFailure)?.code == .offerWithdrawn
            }
        }
        #expect(isInvited == false)
        #expect(offers.nextDeadline == nil)
    }

    @Test("what is sent too soon is shown as sent when its time has come, if it is still offered")
    mutating func tooSoon() throws {
        try invite()
        _ = offers.offer(try Example.offer(2), from: device, handlers: handlers)
        #expect(try offers.invite(two, from: device, at: Self.at(1)) == [])
        #expect(offers.nextDeadline == Self.at(10))
        let actions = offers.advance(to: Self.at(10))
        #expect(try actions == [.changed(#require(offers.entry(two, of: device)))])
        #expect(offers.entry(two, of: device)?.isInvited == true)
    }

    @Test("what ends while it waits is not shown as sent, however it ends", arguments: 0..<5)
    mutating func endsWhileWaiting(_ way: Int) throws {
        try invite()
        _ = try offers.dismiss(one, of: device)
        #expect(try offers.invite(one, from: device, at: Self.at(1)) == [])
        switch way {
        case 0: _ = offers.withdraw(one, from: device)
        case 1: _ = offers.peerRemoved(device)
        case 2: _ = offers.allPeersRemoved()
        case 3: _ = offers.setEnabled(false) + offers.setEnabled(true)
        default: _ = offers.setMuted(true, device) + offers.setMuted(false, device)
        }
        #expect(offers.nextDeadline == nil)
        #expect(offers.advance(to: Self.at(60)) == [])
    }

    @Test("continuing it answers the invitation, and while it is continued none is shown")
    mutating func continued() throws {
        try invite()
        let actions = offers.setContinuing(true, one, of: device)
        #expect(actions.count == 1 && isInvited == false)
        #expect(try offers.invite(one, from: device, at: Self.at(20)) == [])
        _ = offers.setContinuing(false, one, of: device)
        #expect(isInvited == false)
        try invite(at: 21)
    }

    @Test("a dismissed offer comes back when it is sent, not before its time")
    mutating func dismissed() throws {
        try invite()
        #expect(try offers.dismiss(one, of: device) == [.removed(device, one)])
        #expect(try offers.invite(one, from: device, at: Self.at(3)) == [])
        #expect(offers.entries.isEmpty)
        let actions = offers.advance(to: Self.at(10))
        #expect(try actions == [.added(#require(offers.entry(one, of: device)))])
        #expect(isInvited == true)
    }

    @Test("an offer that nothing here continues is hidden as one that was sent")
    mutating func hidden() throws {
        _ = offers.updateHandlers { _ in [] }
        #expect(offers.hidden.map(\.isInvited) == [false])
        #expect(try offers.invite(one, from: device, at: Self.at(0)) == [.hiddenChanged])
        #expect(offers.hidden.map(\.isInvited) == [true])
        let handlers = handlers
        _ = offers.updateHandlers { _ in handlers }
        #expect(isInvited == true)
    }

    @Test("what a muted peer offers is shown, but never as sent")
    mutating func muted() throws {
        try invite()
        let actions = offers.setMuted(true, device)
        #expect(try actions == [.changed(#require(offers.entry(one, of: device)))])
        #expect(isInvited == false)
        #expect(try offers.invite(one, from: device, at: Self.at(20)) == [])
        #expect(isInvited == false)
        #expect(offers.setMuted(false, device) == [])
        try invite(at: 21)
    }
}

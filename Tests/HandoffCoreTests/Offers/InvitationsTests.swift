// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("The pace of invitations")
struct InvitationsTests {
    private let device: DeviceID
    private let (a, b, c): (ActivityID, ActivityID, ActivityID)
    private var invitations = Invitations()

    init() throws {
        device = try Example.device(1)
        (a, b, c) = (try Example.activity(1), try Example.activity(2), try Example.activity(3))
    }

    private static func at(_ seconds: Double) -> Instant {
        Instant(microseconds: Int64(seconds * 1_000_000))
    }

    @Test(
        "the first invitation of a peer is shown at once, and another to the same is a new one, at the same pace"
    )
    mutating func first() {
        #expect(invitations.invite(a, by: device, at: Self.at(1)) == true)
        #expect(invitations.isShown(a, of: device))
        #expect(invitations.time(of: a, by: device) == 1_000_000)
        #expect(invitations.invite(a, by: device, at: Self.at(2)) == false)
        #expect(invitations.invite(a, by: device, at: Self.at(3)) == false)
        #expect(invitations.time(of: a, by: device) == 1_000_000, "it is not time yet")
        #expect(invitations.advance(to: Self.at(11)) == [device: a])
        #expect(invitations.time(of: a, by: device) == 3_000_000)
        #expect(invitations.invite(a, by: device, at: Self.at(30)) == true)
        #expect(invitations.time(of: a, by: device) == 30_000_000)
        #expect(invitations.nextDeadline == nil)
        invitations.end(a, of: device)
        #expect(invitations.time(of: a, by: device) == 0)
    }

    @Test("what repeats an invitation has its time, and the next one its own")
    mutating func repeated() {
        invitations.willInvite(from: 5, by: device)
        #expect(invitations.invite(a, by: device, at: Self.at(1)) == true)
        #expect(invitations.time(of: a, by: device) == 5)
        #expect(invitations.invite(a, by: device, at: Self.at(20)) == true)
        #expect(invitations.time(of: a, by: device) == 20_000_000)
        invitations.willInvite(from: 5, by: device)
        invitations.forget(device)
        #expect(invitations.invite(a, by: device, at: Self.at(21)) == true)
        #expect(invitations.time(of: a, by: device) == 21_000_000, "no peer any more")
    }

    @Test("what comes within ten seconds is shown when they are over, and the latest of it alone")
    mutating func tooSoon() {
        #expect(invitations.invite(a, by: device, at: Self.at(0)) == true)
        invitations.offered(b, by: device)
        #expect(invitations.invite(b, by: device, at: Self.at(3)) == false)
        invitations.offered(c, by: device)
        #expect(invitations.nextDeadline == nil, "what is offered no longer is not waited for")
        #expect(invitations.invite(c, by: device, at: Self.at(4)) == false)
        #expect(invitations.nextDeadline == Self.at(10))
        #expect(invitations.advance(to: Self.at(9.9)) == [:])
        #expect(invitations.advance(to: Self.at(10)) == [device: c])
        #expect(invitations.isShown(c, of: device) && !invitations.isShown(a, of: device))
        // The next ten seconds begin when it is shown.
        invitations.offered(a, by: device)
        #expect(invitations.invite(a, by: device, at: Self.at(19.9)) == false)
        #expect(invitations.nextDeadline == Self.at(20))
    }

    @Test("the pace stays the same when what was shown has ended")
    mutating func ended() {
        #expect(invitations.invite(a, by: device, at: Self.at(0)) == true)
        invitations.offered(nil, by: device)
        invitations.offered(b, by: device)
        #expect(invitations.invite(b, by: device, at: Self.at(1)) == false)
        #expect(invitations.advance(to: Self.at(10)) == [device: b])
    }

    @Test("what the user has dealt with can be sent again, at the same pace")
    mutating func again() {
        #expect(invitations.invite(a, by: device, at: Self.at(0)) == true)
        invitations.end(a, of: device)
        #expect(!invitations.isShown(a, of: device))
        #expect(invitations.invite(a, by: device, at: Self.at(2)) == false)
        invitations.end(b, of: device)
        #expect(invitations.nextDeadline == Self.at(10), "the end of another changes nothing")
        invitations.end(a, of: device)
        #expect(invitations.nextDeadline == nil)
        #expect(invitations.invite(a, by: device, at: Self.at(11)) == true)
    }

    @Test("peers do not wait for each other")
    mutating func others() throws {
        #expect(invitations.invite(a, by: device, at: Self.at(0)) == true)
        #expect(invitations.invite(b, by: try Example.device(2), at: Self.at(0)) == true)
        #expect(invitations.isShown(a, of: device))
    }

    @Test("nothing of a muted peer is shown, nor what it has sent before")
    mutating func muted() {
        #expect(invitations.invite(a, by: device, at: Self.at(0)) == true)
        invitations.setMuted(true, device)
        #expect(!invitations.isShown(a, of: device))
        #expect(invitations.invite(a, by: device, at: Self.at(20)) == false)
        #expect(invitations.nextDeadline == nil)
        invitations.setMuted(false, device)
        #expect(!invitations.isShown(a, of: device))
        #expect(invitations.invite(a, by: device, at: Self.at(21)) == true)
    }

    @Test("nothing is remembered of a device that is no peer any more")
    mutating func forgotten() {
        #expect(invitations.invite(a, by: device, at: Self.at(0)) == true)
        invitations.setMuted(true, device)
        invitations.forget(device)
        #expect(!invitations.isShown(a, of: device))
        #expect(invitations.invite(a, by: device, at: Self.at(1)) == true)
    }

    @Test("whatever comes, a peer has one invitation, and one is shown in ten seconds", arguments: 1...40)
    mutating func pace(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var now = Int64.random(in: -100...100, using: &generator)
        var last: [DeviceID: Int64] = [:]
        for _ in 0..<500 {
            now += Int64.random(in: 0...4_000_000, using: &generator)
            let device = try Example.device(UInt8.random(in: 0...2, using: &generator))
            let id = try Example.activity(UInt8.random(in: 0...2, using: &generator))
            let instant = Instant(microseconds: now)
            var shown = invitations.advance(to: instant)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<6: if invitations.invite(id, by: device, at: instant) { shown[device] = id }
            case 6: invitations.end(id, of: device)
            case 7..<9: invitations.offered(generator.chance(80) ? id : nil, by: device)
            default: invitations.setMuted(generator.chance(30), device)
            }
            for (device, id) in shown {
                #expect(now - last[device, default: .min / 2] >= 10_000_000)
                last[device] = now
                let all = try (0...2).map { try Example.activity($0) }.filter {
                    invitations.isShown($0, of: device)
                }
                #expect(all.allSatisfy { $0 == id })
            }
            if let deadline = invitations.nextDeadline { #expect(deadline > instant) }
        }
    }
}

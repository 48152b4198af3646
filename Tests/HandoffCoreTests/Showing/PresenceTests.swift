// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Whether the user is at the machine")
struct PresenceTests {
    /// That many seconds after the start.
    private func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1_000_000)) }

    private func unlocked() -> Presence {
        var presence = Presence()
        _ = presence.lockIs(false, at: at(0))
        return presence
    }

    @Test(
        "until it is known whether the session is locked it counts as locked, and learning it is no arrival")
    func unknown() {
        var presence = Presence()
        #expect(presence.isLocked)
        #expect(presence.lockIs(false, at: at(0)) == [.unlocked])
        #expect(!presence.isLocked)
    }

    @Test("unlocking the session is an arrival, saying it twice is one")
    func unlocking() {
        var presence = unlocked()
        #expect(presence.lockIs(true, at: at(1)) == [.locked])
        #expect(presence.lockIs(true, at: at(2)) == [])
        #expect(presence.isLocked)
        #expect(presence.lockIs(false, at: at(3)) == [.unlocked, .arrived(hasJustWokenUp: false)])
        #expect(presence.lockIs(false, at: at(4)) == [])
    }

    @Test(
        "coming back after three idle minutes is an arrival, sooner is none",
        arguments: Presence.Source.allCases)
    func idling(_ source: Presence.Source) {
        var presence = unlocked()
        presence.idle(source, since: at(10))
        #expect(presence.active(source, at: at(189)) == [])
        presence.idle(source, since: at(200))
        presence.idle(source, since: at(370))
        #expect(presence.active(source, at: at(380)) == [.arrived(hasJustWokenUp: source == .sleep)])
        #expect(presence.active(source, at: at(800)) == [])
    }

    @Test("two who say that the user is back speak of one arrival")
    func oneArrival() {
        var presence = unlocked()
        presence.idle(.session, since: at(0))
        presence.idle(.monitor, since: at(0))
        #expect(presence.active(.monitor, at: at(200)) == [.arrived(hasJustWokenUp: false)])
        #expect(presence.active(.session, at: at(200.5)) == [])
    }

    @Test("moving the pointer of a locked session is no arrival, and after unlocking it is none either")
    func lockedAndIdle() {
        var presence = unlocked()
        presence.idle(.monitor, since: at(0))
        presence.idle(.session, since: at(0))
        _ = presence.lockIs(true, at: at(1))
        #expect(presence.active(.monitor, at: at(400)) == [])
        #expect(presence.lockIs(false, at: at(405)) == [.unlocked, .arrived(hasJustWokenUp: false)])
        #expect(presence.active(.session, at: at(406)) == [])
    }

    @Test("an arrival within a minute of waking up belongs to that")
    func wakingUp() {
        var presence = unlocked()
        _ = presence.lockIs(true, at: at(1))
        presence.idle(.sleep, since: at(2))
        #expect(presence.active(.sleep, at: at(5000)) == [])
        #expect(presence.lockIs(false, at: at(5059)) == [.unlocked, .arrived(hasJustWokenUp: true)])
        _ = presence.lockIs(true, at: at(5060))
        #expect(presence.lockIs(false, at: at(5061)) == [.unlocked, .arrived(hasJustWokenUp: false)])
    }

    @Test("a request to lock counts as locked until it shows, or does not")
    func lockAsked() {
        var presence = unlocked()
        #expect(presence.lockAsked(at: at(1)) == [.locked])
        #expect(presence.isLocked)
        #expect(presence.lockIs(true, at: at(2)) == [])
        #expect(presence.nextTime == nil)
        #expect(presence.unlockAsked(at: at(3)) == [])
        #expect(presence.isLocked)
        #expect(presence.lockIs(false, at: at(4)) == [.unlocked, .arrived(hasJustWokenUp: false)])
        _ = presence.lockAsked(at: at(5))
        #expect(presence.advance(to: at(14)) == [])
        #expect(presence.nextTime == at(15))
        #expect(presence.advance(to: at(15)) == [.unlocked])
        _ = presence.lockAsked(at: at(16))
        #expect(presence.unlockAsked(at: at(17)) == [.unlocked, .arrived(hasJustWokenUp: false)])
    }
}

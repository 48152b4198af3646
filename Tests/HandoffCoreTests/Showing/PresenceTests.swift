// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Whether the user is at the machine")
struct PresenceTests {
    /// That many seconds after the start.
    private func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1_000_000)) }

    private func unlocked() -> Presence {
        var presence = Presence()
        for locker in Presence.Locker.allCases { _ = presence.lockIs(false, locker, at: at(0)) }
        return presence
    }

    @Test(
        "until it is known whether the session is locked it counts as locked, and learning it is no arrival")
    func unknown() {
        var presence = Presence()
        #expect(presence.isLocked)
        #expect(presence.isGone(.screenSaver, at: at(0)) == [])
        #expect(presence.lockIs(false, .session, at: at(0)) == [])
        #expect(presence.isLocked)
        #expect(presence.isGone(.desktopScreenSaver, at: at(0)) == [.unlocked])
        #expect(!presence.isLocked)
    }

    @Test(
        "the session is locked as long as anybody says so, and the last one who ends that lets the user in",
        arguments: Presence.Locker.allCases, Presence.Locker.allCases)
    func lockers(_ one: Presence.Locker, _ other: Presence.Locker) {
        guard one != other else { return }
        var presence = unlocked()
        #expect(presence.lockIs(true, one, at: at(1)) == [.locked])
        #expect(presence.lockIs(true, other, at: at(2)) == [])
        #expect(presence.lockIs(false, one, at: at(3)) == [])
        #expect(presence.isLocked)
        #expect(presence.lockIs(false, other, at: at(4)) == [.unlocked, .arrived(hasJustWokenUp: false)])
    }

    @Test(
        "what somebody has locked who is gone stays locked until another lock ends or the session is unlocked",
        arguments: Presence.Locker.allCases)
    func gone(_ locker: Presence.Locker) {
        var presence = unlocked()
        _ = presence.lockIs(true, locker, at: at(1))
        #expect(presence.isGone(locker, at: at(2)) == [])
        #expect(presence.isGone(locker, at: at(3)) == [])
        #expect(presence.lockIs(false, locker, at: at(4)) == [])
        #expect(presence.isLocked)
        var other = presence
        _ = other.lockIs(true, .screenSaver, at: at(5))
        #expect(
            other.lockIs(false, .screenSaver, at: at(6)) == [.unlocked, .arrived(hasJustWokenUp: false)])
        #expect(presence.unlockAsked(at: at(5)) == [.unlocked, .arrived(hasJustWokenUp: false)])
    }

    @Test("unlocking the session is an arrival, saying it twice is one")
    func unlocking() {
        var presence = unlocked()
        #expect(presence.lockIs(true, .session, at: at(1)) == [.locked])
        #expect(presence.lockIs(true, .session, at: at(2)) == [])
        #expect(presence.isLocked)
        #expect(presence.lockIs(false, .session, at: at(3)) == [.unlocked, .arrived(hasJustWokenUp: false)])
        #expect(presence.lockIs(false, .session, at: at(4)) == [])
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
        _ = presence.lockIs(true, .session, at: at(1))
        #expect(presence.active(.monitor, at: at(400)) == [])
        #expect(
            presence.lockIs(false, .session, at: at(405)) == [.unlocked, .arrived(hasJustWokenUp: false)])
        #expect(presence.active(.session, at: at(406)) == [])
    }

    @Test("an arrival within a minute of waking up belongs to that")
    func wakingUp() {
        var presence = unlocked()
        _ = presence.lockIs(true, .session, at: at(1))
        presence.idle(.sleep, since: at(2))
        #expect(presence.active(.sleep, at: at(5000)) == [])
        #expect(
            presence.lockIs(false, .session, at: at(5059)) == [.unlocked, .arrived(hasJustWokenUp: true)])
        _ = presence.lockIs(true, .session, at: at(5060))
        #expect(
            presence.lockIs(false, .session, at: at(5061)) == [.unlocked, .arrived(hasJustWokenUp: false)])
    }

    @Test("a request to lock counts as locked until whoever locks says otherwise")
    func lockAsked() {
        var presence = unlocked()
        #expect(presence.lockAsked(at: at(1)) == [.locked])
        #expect(presence.isLocked)
        #expect(presence.lockIs(true, .session, at: at(2)) == [])
        #expect(presence.unlockAsked(at: at(3)) == [])
        #expect(presence.isLocked)
        #expect(presence.lockIs(false, .session, at: at(4)) == [.unlocked, .arrived(hasJustWokenUp: false)])
    }

    @Test("a request to lock that nobody confirms stays until somebody asks for the end of it")
    func lockUnseen() {
        var presence = unlocked()
        _ = presence.lockAsked(at: at(1))
        for locker in Presence.Locker.allCases {
            #expect(presence.lockIs(false, locker, at: at(3600)) == [])
            #expect(presence.isGone(locker, at: at(3600)) == [])
        }
        presence.idle(.monitor, since: at(3600))
        #expect(presence.active(.monitor, at: at(7200)) == [])
        #expect(presence.isLocked)
        #expect(presence.unlockAsked(at: at(7300)) == [.unlocked, .arrived(hasJustWokenUp: false)])
    }

    @Test("a request that comes before it is known whether the session is locked counts too")
    func lockAskedFirst() {
        var presence = Presence()
        #expect(presence.lockAsked(at: at(1)) == [.locked])
        for locker in Presence.Locker.allCases { #expect(presence.lockIs(false, locker, at: at(2)) == []) }
        #expect(presence.isLocked)
    }
}

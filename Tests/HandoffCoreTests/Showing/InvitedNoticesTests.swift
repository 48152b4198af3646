// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("What was pushed to this device")
struct InvitedNoticesTests {
    private func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1_000_000)) }

    private func invited(
        _ device: String, _ name: String, title: String = "", since: Int64 = 0, time: Int64 = 1
    ) -> ShownOffer {
        ShownOffer(
            path: "/\(device)/\(name)", deviceID: device, title: title, since: since, isInvited: true,
            invitedAt: time)
    }

    private func here() -> InvitedNotices {
        var notices = InvitedNotices()
        _ = notices.unlocked(at: at(0))
        return notices
    }

    @Test("is shown at once, and what was not pushed is not")
    func atOnce() {
        var notices = here()
        let plain = ShownOffer(path: "/x/1", deviceID: "x")
        #expect(notices.update([invited("a", "1"), plain], at: at(1)) == [.show(invited("a", "1"))])
        #expect(notices.update([invited("a", "1"), plain], at: at(2)) == [])
    }

    @Test("is shown one in ten seconds for each peer, and of those in between the latest")
    func pace() {
        var notices = here()
        _ = notices.update([invited("a", "1")], at: at(0))
        #expect(notices.update([invited("a", "2")], at: at(1)) == [.withdraw(deviceID: "a")])
        #expect(
            notices.update([invited("a", "3"), invited("b", "1")], at: at(2)) == [.show(invited("b", "1"))])
        #expect(notices.nextTime == at(10))
        #expect(notices.advance(to: at(9)) == [])
        #expect(notices.advance(to: at(10)) == [.show(invited("a", "3"))])
        #expect(notices.nextTime == nil)
    }

    @Test("is forgotten no sooner than another may be shown, even if there is nothing in between")
    func paceOverGap() {
        var notices = here()
        _ = notices.update([invited("a", "1")], at: at(0))
        #expect(notices.update([], at: at(1)) == [.withdraw(deviceID: "a")])
        #expect(notices.update([invited("a", "2")], at: at(2)) == [])
        #expect(notices.advance(to: at(10)) == [.show(invited("a", "2"))])
    }

    @Test("does not come back once it was answered, another does")
    func closed() {
        var notices = here()
        _ = notices.update([invited("a", "1")], at: at(0))
        notices.closed(deviceID: "a")
        #expect(notices.update([invited("a", "1", title: "new")], at: at(20)) == [])
        #expect(notices.update([invited("a", "2")], at: at(30)) == [.show(invited("a", "2"))])
    }

    @Test("comes back when it is sent again")
    func again() {
        var notices = here()
        _ = notices.update([invited("a", "1")], at: at(0))
        notices.closed(deviceID: "a")
        let other = invited("a", "1", time: 2)
        #expect(notices.update([other], at: at(5)) == [])
        #expect(notices.advance(to: at(10)) == [.show(other)])
        notices.closed(deviceID: "a")
        #expect(notices.update([other], at: at(30)) == [])
        let third = invited("a", "1", time: 3)
        #expect(notices.update([third], at: at(30)) == [.show(third)])
        let fourth = invited("a", "1", time: 4)
        #expect(notices.update([fourth], at: at(50)) == [.show(fourth)], "also if it is still shown")
        notices.closed(deviceID: "a")
        #expect(notices.update([fourth], at: at(70)) == [])
    }

    @Test("does not come back after it was gone for a while, unless it is sent again")
    func gone() {
        var notices = here()
        _ = notices.update([invited("a", "1")], at: at(0))
        notices.closed(deviceID: "a")
        #expect(notices.update([], at: at(60)) == [])
        #expect(notices.update([invited("a", "1")], at: at(61)) == [])
        #expect(notices.nextTime == nil)
        #expect(notices.update([invited("a", "1", time: 2)], at: at(62)).count == 1)
    }

    @Test("is not shown while the session is locked, but afterwards if it is still there")
    func locked() {
        var notices = here()
        _ = notices.update([invited("a", "1")], at: at(0))
        #expect(notices.locked() == [.withdraw(deviceID: "a")])
        #expect(notices.update([invited("a", "1"), invited("b", "1")], at: at(20)) == [])
        #expect(notices.nextTime == nil)
        #expect(
            notices.unlocked(at: at(30)) == [.show(invited("a", "1")), .show(invited("b", "1"))])
    }

    @Test(
        "where nobody says what the user has put away, what was shown before a lock does not come back after it"
    )
    func lockedUnknown() {
        var notices = here()
        _ = notices.update([invited("a", "1")], at: at(0))
        #expect(notices.locked(isKnown: false) == [.withdraw(deviceID: "a")])
        _ = notices.update([invited("a", "1"), invited("b", "1")], at: at(20))
        #expect(notices.unlocked(at: at(30)) == [.show(invited("b", "1"))])
        #expect(
            notices.update([invited("a", "2"), invited("b", "1")], at: at(40)) == [.show(invited("a", "2"))])
    }

    @Test("is taken back when it is being continued")
    func continued() {
        var notices = here()
        var offer = invited("a", "1")
        _ = notices.update([offer], at: at(0))
        offer.isContinuing = true
        #expect(notices.update([offer], at: at(1)) == [.withdraw(deviceID: "a")])
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("What is asked of what peers have sent to be copied")
struct PasteNoticesTests {
    private func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1_000_000)) }

    private func sent(_ kinds: [ClipboardKind], by device: String = "a") -> PasteNotices.Sent {
        PasteNotices.Sent(deviceID: device, kinds: kinds)
    }

    private func unlocked() -> PasteNotices {
        var notices = PasteNotices()
        _ = notices.unlocked(at: at(0))
        return notices
    }

    @Test("the latest of each peer counts, and one of nothing takes its place too")
    func latest() {
        var notices = unlocked()
        #expect(notices.asked(sent([.text]), at: at(0)) == [.show(sent([.text]))])
        #expect(notices.asked(sent([.image], by: "b"), at: at(1)) == [.show(sent([.image], by: "b"))])
        #expect(
            notices.asked(sent([.image]), at: at(2)) == [.withdraw(deviceID: "a"), .show(sent([.image]))])
        #expect(notices.asked(sent([]), at: at(3)) == [.withdraw(deviceID: "a")])
        #expect(notices.asked(sent([]), at: at(4)) == [])
        #expect(notices.nextTime == at(601))
    }

    @Test("it is asked for ten minutes, and not longer than the device is there and was not pasted from")
    func end() {
        var notices = unlocked()
        _ = notices.asked(sent([.text]), at: at(0))
        #expect(notices.nextTime == at(600))
        #expect(notices.advance(to: at(599)) == [])
        #expect(notices.advance(to: at(600)) == [.withdraw(deviceID: "a")])
        #expect(notices.nextTime == nil)
        _ = notices.asked(sent([.text]), at: at(700))
        #expect(notices.update(["a", "b"]) == [])
        #expect(notices.update(["b"]) == [.withdraw(deviceID: "a")])
        _ = notices.asked(sent([.text]), at: at(800))
        #expect(notices.pasted("b") == [])
        #expect(notices.pasted("a") == [.withdraw(deviceID: "a")])
        _ = notices.asked(sent([.text]), at: at(900))
        notices.closed("a")
        #expect(notices.advance(to: at(1600)) == [] && notices.nextTime == nil)
    }

    @Test("nothing is asked while the session is locked, and afterwards what can still be had")
    func locking() {
        var notices = PasteNotices()
        #expect(notices.asked(sent([.text]), at: at(0)) == [])
        #expect(notices.asked(sent([.text], by: "b"), at: at(100)) == [])
        #expect(notices.unlocked(at: at(600)) == [.show(sent([.text], by: "b"))])
        #expect(notices.locked() == [.withdraw(deviceID: "b")])
        #expect(notices.unlocked(at: at(601)) == [.show(sent([.text], by: "b"))])
        #expect(notices.locked(isKnown: false) == [.withdraw(deviceID: "b")])
        #expect(notices.unlocked(at: at(602)) == [])
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("What is shown of activities continued elsewhere")
struct ContinuedNoticesTests {
    private func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1_000_000)) }

    private func one(_ title: String) -> ContinuedNotices.Continued {
        ContinuedNotices.Continued(deviceID: "a", deviceName: "lap", applicationID: "x", title: title)
    }

    @Test("each is shown, of many at once the first and the latest")
    func pace() {
        var notices = ContinuedNotices()
        notices.unlocked()
        #expect(notices.continued(one("1"), isWanted: true, at: at(0)) == [.show(one("1"))])
        #expect(notices.continued(one("2"), isWanted: true, at: at(0.5)) == [])
        #expect(notices.continued(one("3"), isWanted: true, at: at(1)) == [])
        #expect(notices.nextTime == at(2))
        #expect(notices.advance(to: at(2)) == [.withdraw, .show(one("3"))])
        #expect(notices.nextTime == nil)
        #expect(notices.continued(one("3"), isWanted: true, at: at(5)) == [.withdraw, .show(one("3"))])
        notices.closed()
        #expect(notices.continued(one("3"), isWanted: true, at: at(8)) == [.show(one("3"))])
    }

    @Test("none is shown that is not wanted, or while the session is locked, or afterwards")
    func none() {
        var notices = ContinuedNotices()
        #expect(notices.continued(one("1"), isWanted: true, at: at(0)) == [])
        notices.unlocked()
        #expect(notices.continued(one("2"), isWanted: false, at: at(0)) == [])
        _ = notices.continued(one("3"), isWanted: true, at: at(10))
        _ = notices.continued(one("4"), isWanted: true, at: at(11))
        #expect(notices.locked() == [.withdraw])
        notices.unlocked()
        #expect(notices.advance(to: at(20)) == [])
    }
}

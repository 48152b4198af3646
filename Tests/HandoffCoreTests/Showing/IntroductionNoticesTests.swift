// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("What is shown of introduced devices")
struct IntroductionNoticesTests {
    private typealias Introduction = IntroductionNotices.Introduction

    private func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1_000_000)) }

    private func by(_ peer: String, _ ids: String...) -> Introduction {
        Introduction(
            introducer: .init(id: peer, name: "peer"), devices: ids.map { .init(id: $0, name: "device") })
    }

    private func here() -> IntroductionNotices {
        var notices = IntroductionNotices()
        _ = notices.unlocked(at: at(0))
        return notices
    }

    @Test("what a peer introduces is shown together, though it comes one by one")
    func together() {
        var notices = here()
        #expect(notices.update([by("p", "a")], at: at(1)) == [])
        #expect(notices.update([by("p", "a", "b")], at: at(1.5)) == [])
        #expect(notices.nextTime == at(3))
        #expect(notices.advance(to: at(3)) == [.show(by("p", "a", "b"))])
        #expect(notices.nextTime == nil)
    }

    @Test("a peer is shown once in ten minutes, with what is shown of it still")
    func paced() {
        var notices = here()
        _ = notices.update([by("p", "a")], at: at(0))
        #expect(notices.advance(to: at(2)) == [.show(by("p", "a"))])
        #expect(notices.update([by("p", "a", "b")], at: at(60)) == [])
        #expect(notices.nextTime == at(602))
        #expect(notices.advance(to: at(601)) == [])
        #expect(notices.advance(to: at(602)) == [.show(by("p", "a", "b"))])
        notices.closed("p")
        _ = notices.update([by("p", "a", "b", "c")], at: at(2000))
        #expect(notices.advance(to: at(2002)) == [.show(by("p", "c"))])
    }

    @Test("a device is told of once, whoever introduces it, and however often the bridge begins anew")
    func once() {
        var notices = here()
        _ = notices.update([by("p", "a"), by("q", "a", "b")], at: at(0))
        #expect(notices.advance(to: at(2)) == [.show(by("p", "a")), .show(by("q", "b"))])
        #expect(notices.nextTime == nil)
        #expect(notices.update([], at: at(3)) == [.withdraw("p"), .withdraw("q")])
        #expect(notices.update([by("p", "a", "b"), by("r", "a")], at: at(2000)) == [])
        #expect(notices.nextTime == nil)
    }

    @Test("what is answered elsewhere is taken back once nothing is left, and fewer are not shown anew")
    func answered() {
        var notices = here()
        _ = notices.update([by("p", "a", "b")], at: at(0))
        _ = notices.advance(to: at(2))
        #expect(notices.update([by("p", "b")], at: at(3)) == [])
        #expect(notices.update([by("p", "b")], at: at(4)) == [])
        #expect(notices.update([], at: at(5)) == [.withdraw("p")])
        // What is answered before it was shown is not shown.
        _ = notices.update([by("q", "c")], at: at(6))
        _ = notices.update([], at: at(7))
        #expect(notices.nextTime == nil)
        #expect(notices.advance(to: at(9)) == [])
    }

    @Test("nothing is shown while the session is locked, and afterwards what there is still")
    func locked() {
        var notices = here()
        _ = notices.update([by("p", "a", "b")], at: at(0))
        _ = notices.advance(to: at(2))
        #expect(notices.locked() == [.withdraw("p")])
        #expect(notices.update([by("p", "b"), by("q", "c")], at: at(3)) == [])
        #expect(notices.nextTime == nil)
        #expect(notices.advance(to: at(9)) == [])
        #expect(notices.unlocked(at: at(10)) == [.show(by("p", "b")), .show(by("q", "c"))])
        // Where nobody tells what the user has put away, nothing comes back.
        #expect(notices.locked(isKnown: false) == [.withdraw("p"), .withdraw("q")])
        #expect(notices.unlocked(at: at(11)) == [])
    }

    @Test("what is not unlocked yet shows nothing, and a peer that makes devices up shows few")
    func flood() {
        var notices = IntroductionNotices()
        #expect(notices.update([by("p", "a")], at: at(0)) == [])
        _ = notices.unlocked(at: at(0))
        var shown = 0
        for number in 1...1800 {
            shown += notices.update([by("p", "\(number)")], at: at(Double(number))).count { action in
                if case .show = action { true } else { false }
            }
        }
        #expect(shown == 3)
    }
}

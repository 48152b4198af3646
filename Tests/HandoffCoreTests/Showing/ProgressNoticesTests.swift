// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("What is shown of continuations")
struct ProgressNoticesTests {
    private func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1_000_000)) }

    private func offer(
        _ progress: Double? = nil, continuing: Bool = true, shown: Bool = false, path: String = "/a"
    ) -> ShownOffer {
        ShownOffer(
            path: path, deviceID: "d", title: "t", isContinuing: continuing, isShownByApplication: shown,
            progress: progress)
    }

    private func failure(_ path: String = "/a", again: Bool = true) -> ProgressNotices.Failure {
        ProgressNotices.Failure(
            offer: offer(continuing: false, path: path), message: "why", canTryAgain: again)
    }

    private func here() -> ProgressNotices {
        var notices = ProgressNotices()
        _ = notices.unlocked(at: at(0))
        return notices
    }

    @Test("one that takes longer than half a second is shown, a faster one never")
    func patience() {
        var notices = here()
        #expect(notices.update([offer()], at: at(1)) == [])
        #expect(notices.nextTime == at(1.5))
        #expect(notices.update([offer(continuing: false)], at: at(1.4)) == [])
        #expect(notices.advance(to: at(2)) == [])
        _ = notices.update([offer()], at: at(3))
        #expect(notices.advance(to: at(3.5)) == [.show(offer())])
        #expect(notices.update([], at: at(4)) == [.withdraw(path: "/a")])
    }

    @Test("its progress is shown, but not more often than once a second, and only where it can be seen")
    func progress() {
        var notices = here()
        _ = notices.update([offer()], at: at(0))
        _ = notices.advance(to: at(0.5))
        #expect(notices.update([offer(0.1)], at: at(1)) == [])
        #expect(notices.advance(to: at(1.5)) == [.show(offer(0.1))])
        #expect(notices.update([offer(0.104)], at: at(9)) == [])
        #expect(notices.update([offer(0.11)], at: at(9)) == [.show(offer(0.11))])
        #expect(notices.nextTime == nil)
    }

    @Test("an application that shows it by itself is left to do so", arguments: [0.2, 0.8])
    func byApplication(_ seconds: Double) {
        var notices = here()
        _ = notices.update([offer()], at: at(0))
        var actions = notices.advance(to: at(seconds))
        actions += notices.update([offer(shown: true)], at: at(seconds))
        actions += notices.advance(to: at(5))
        #expect(actions == (seconds < 0.5 ? [] : [.show(offer()), .withdraw(path: "/a")]))
    }

    @Test("one that was begun here is over when its outcome is known, whatever the offer says")
    func own() {
        var notices = here()
        _ = notices.began(offer(continuing: false), at: at(0))
        #expect(notices.update([offer(continuing: false)], at: at(0.1)) == [])
        #expect(notices.advance(to: at(0.5)) == [.show(offer(continuing: false))])
        #expect(notices.update([], at: at(1)) == [])
        #expect(notices.finished(path: "/a", nil) == [.withdraw(path: "/a")])
    }

    @Test("one that fails says why, until it is tried again, or the user puts that away")
    func failing() {
        var notices = here()
        _ = notices.began(offer(continuing: false), at: at(0))
        #expect(notices.finished(path: "/a", failure()) == [.fail(failure())])
        #expect(notices.began(offer(continuing: false), at: at(1)) == [.withdraw(path: "/a")])
        _ = notices.finished(path: "/a", failure())
        notices.closed(path: "/a")
        #expect(notices.locked() == [])
        #expect(notices.unlocked(at: at(2)) == [])
    }

    @Test("what has failed cannot be tried again once its offer has ended")
    func ended() {
        var notices = here()
        _ = notices.update([offer(continuing: false)], at: at(0))
        _ = notices.finished(path: "/a", failure())
        #expect(notices.update([], at: at(1)) == [.fail(failure(again: false))])
        #expect(notices.update([], at: at(2)) == [])
    }

    @Test("while the session is locked nothing is shown, and afterwards what has failed")
    func locked() {
        var notices = here()
        _ = notices.update([offer()], at: at(0))
        _ = notices.advance(to: at(1))
        _ = notices.finished(path: "/b", failure("/b", again: false))
        #expect(notices.locked() == [.withdraw(path: "/a"), .withdraw(path: "/b")])
        #expect(notices.finished(path: "/c", failure("/c", again: false)) == [])
        #expect(notices.update([offer(0.5)], at: at(2)) == [])
        #expect(notices.nextTime == nil)
        #expect(
            notices.unlocked(at: at(3)) == [
                .fail(failure("/b", again: false)), .fail(failure("/c", again: false)), .show(offer(0.5)),
            ])
    }

    @Test(
        "where nobody says what the user has put away, failures shown before a lock do not come back, what is under way does"
    )
    func lockedUnknown() {
        var notices = here()
        _ = notices.update([offer()], at: at(0))
        _ = notices.advance(to: at(1))
        _ = notices.finished(path: "/b", failure("/b", again: false))
        #expect(notices.locked(isKnown: false) == [.withdraw(path: "/a"), .withdraw(path: "/b")])
        _ = notices.finished(path: "/c", failure("/c", again: false))
        #expect(
            notices.unlocked(at: at(3)) == [.fail(failure("/c", again: false)), .show(offer())])
        _ = notices.locked(isKnown: false)
        #expect(notices.unlocked(at: at(5)) == [.show(offer())])
    }

    @Test("failures that nobody looks at do not pile up")
    func many() {
        var notices = here()
        let shown = (0..<100).flatMap { notices.finished(path: "/\($0)", failure("/\($0)", again: false)) }
        #expect(
            shown.count { if case .withdraw = $0 { true } else { false } } == 100
                - ProgressNotices.maximumFailures)
    }

    @Test("a progress that is no number is none", arguments: [Double.nan, .infinity, -.infinity])
    func strangeProgress(_ number: Double) { #expect(offer(number).percentage == nil) }
}

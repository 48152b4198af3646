// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("What is shown of several activities that were continued together")
struct ContinuedAllNoticesTests {
    private typealias Run = ContinuedAllNotices.Run

    private static let failure = Run.Failure(
        message: "It has failed.", detail: "", title: "Letter", applicationID: "x")

    private func run(
        _ id: String, over isOver: Bool = true, cancelled isCancelled: Bool = false,
        _ failure: Run.Failure? = nil
    ) -> Run {
        Run(
            id: id, total: 2, done: 1, isOver: isOver, isCancelled: isCancelled, deviceID: "a",
            deviceName: "lap", failure: failure)
    }

    /// What is told of by now in an unlocked session, where nothing was continued at first.
    private func unlocked() -> ContinuedAllNotices {
        var notices = ContinuedAllNotices()
        notices.unlocked()
        #expect(notices.update([]) == [])
        return notices
    }

    @Test("each is shown once, when all of it is over, whether it was seen to begin or not")
    func once() {
        var notices = unlocked()
        #expect(notices.update([run("1", over: false)]) == [])
        #expect(notices.update([run("1", Self.failure)]) == [.show(run("1", Self.failure))])
        #expect(notices.update([run("1", Self.failure)]) == [])
        #expect(notices.update([run("1"), run("2")]) == [.withdraw, .show(run("2"))])
        notices.closed()
        #expect(notices.update([]) == [] && notices.update([run("3")]) == [.show(run("3"))])
    }

    @Test("what was over when it was first known is old news, also of a new broker")
    func old() {
        var notices = ContinuedAllNotices()
        notices.unlocked()
        #expect(notices.update(nil) == [])
        #expect(notices.update([run("1"), run("2", over: false)]) == [])
        #expect(notices.update([run("1"), run("2")]) == [.show(run("2"))])
        #expect(notices.update(nil) == [])
        #expect(notices.update([run("3")]) == [])
    }

    @Test("what the user has cancelled is not shown, unless something else has failed")
    func cancelled() {
        var notices = unlocked()
        #expect(notices.update([run("1", cancelled: true)]) == [])
        let failed = run("2", cancelled: true, Self.failure)
        #expect(notices.update([failed]) == [.show(failed)])
    }

    @Test("nothing is shown while the session is locked, nor afterwards of what was over by then")
    func locked() {
        var notices = unlocked()
        _ = notices.update([run("1")])
        #expect(notices.locked() == [.withdraw] && notices.locked() == [])
        #expect(notices.update([run("1"), run("2")]) == [])
        notices.unlocked()
        #expect(notices.update([run("1"), run("2")]) == [])
        #expect(notices.update([run("2"), run("3")]) == [.show(run("3"))])
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Saving state")
struct SavingTests {
    private let first: ContinuationID
    private let second: ContinuationID

    init() throws {
        first = try Example.continuation(1)
        second = try Example.continuation(2)
    }

    /// An activity that was saved at 0, with nothing to save.
    private func saved() -> Saving {
        var saving = Saving()
        _ = saving.request(first, at: .at(0))
        _ = saving.answered(attempt: 1, at: .at(0))
        return saving
    }

    @Test(
        "an activity that was never saved is saved before it is continued, though nobody said it needs to be")
    func firstSave() {
        var saving = Saving()
        #expect(saving.request(first, at: .at(0)) == [.askWillSave(attempt: 1)])
        #expect(saving.answered(attempt: 1, at: .at(5)) == [.saved([first])])
        #expect(saving.request(second, at: .at(6)) == [.saved([second])])
    }

    @Test("an activity that needs saving is saved before it is continued, which clears the need")
    func needsSave() {
        var saving = saved()
        #expect(saving.setNeedsSave(true, at: .at(10)) == [.needsSaveChanged(true)])
        #expect(saving.request(first, at: .at(10)) == [.askWillSave(attempt: 2), .needsSaveChanged(false)])
        #expect(!saving.needsSave)
        #expect(saving.answered(attempt: 2, at: .at(11)) == [.saved([first])])
    }

    @Test("what holds for a moment only is asked for again by each continuation, and by nobody in between")
    func passingState() {
        var saving = Saving()
        _ = saving.setCurrent(true, at: .at(0))
        #expect(saving.request(first, at: .at(0)) == [.askWillSave(attempt: 1)])
        #expect(saving.answered(attempt: 1, isPassing: true, at: .at(5)) == [.saved([first])])
        #expect(!saving.needsSave && saving.nextDeadline == nil)
        #expect(saving.advance(to: .at(100_000)) == [])
        #expect(saving.request(second, at: .at(6)) == [.askWillSave(attempt: 2)])
        #expect(saving.answered(attempt: 2, at: .at(7)) == [.saved([second])])
        #expect(saving.request(first, at: .at(8)) == [.saved([first])])
    }

    @Test("becoming current alone asks nobody")
    func becomingCurrent() {
        var saving = Saving()
        #expect(saving.setCurrent(true, at: .at(0)) == [])
        #expect(saving.nextDeadline == nil)
    }

    @Test("however often the need is set, one call runs at a time, and no more than one a second")
    func coalescing() {
        var saving = Saving()
        _ = saving.setCurrent(true, at: .at(0))
        #expect(
            saving.setNeedsSave(true, at: .at(0)) == [
                .needsSaveChanged(true), .askWillSave(attempt: 1), .needsSaveChanged(false),
            ])
        #expect(saving.setNeedsSave(true, at: .at(1)) == [.needsSaveChanged(true)])
        #expect(saving.setNeedsSave(true, at: .at(2)) == [])
        #expect(saving.answered(attempt: 1, at: .at(3)) == [])
        #expect(saving.nextDeadline == .at(1000))
        #expect(saving.advance(to: .at(999)) == [])
        #expect(saving.advance(to: .at(1000)) == [.askWillSave(attempt: 2), .needsSaveChanged(false)])
    }

    @Test("only the current activity is saved without a continuation")
    func notCurrent() {
        var saving = Saving()
        #expect(saving.setNeedsSave(true, at: .at(0)) == [.needsSaveChanged(true)])
        #expect(saving.nextDeadline == nil)
        #expect(saving.setCurrent(true, at: .at(1)) == [.askWillSave(attempt: 1), .needsSaveChanged(false)])
    }

    @Test("an activity that stops being current is not saved later")
    func resigned() {
        var saving = saved()
        _ = saving.setCurrent(true, at: .at(1))
        _ = saving.setNeedsSave(true, at: .at(2))
        #expect(saving.nextDeadline == .at(1000))
        _ = saving.setCurrent(false, at: .at(3))
        #expect(saving.nextDeadline == nil)
        #expect(saving.advance(to: .at(5000)) == [])
    }

    @Test("an application that takes back the need is not asked")
    func takenBack() {
        var saving = saved()
        _ = saving.setCurrent(true, at: .at(1))
        _ = saving.setNeedsSave(true, at: .at(2))
        #expect(saving.setNeedsSave(false, at: .at(3)) == [.needsSaveChanged(false)])
        #expect(saving.advance(to: .at(5000)) == [])
    }

    @Test("a continuation does not wait for the second to pass")
    func notLimited() {
        var saving = saved()
        _ = saving.setCurrent(true, at: .at(1))
        _ = saving.setNeedsSave(true, at: .at(2))
        #expect(saving.request(first, at: .at(3)).contains(.askWillSave(attempt: 2)))
    }

    @Test("a second continuation shares the call that is running")
    func shared() {
        var saving = Saving()
        _ = saving.request(first, at: .at(0))
        #expect(saving.request(second, at: .at(1)) == [])
        #expect(saving.request(first, at: .at(2)) == [])
        #expect(saving.answered(attempt: 1, at: .at(3)) == [.saved([first, second])])
    }

    @Test("a continuation that comes after a change during the call waits for another call")
    func latecomer() {
        var saving = Saving()
        _ = saving.request(first, at: .at(0))
        _ = saving.setNeedsSave(true, at: .at(1))
        #expect(saving.request(second, at: .at(2)) == [])
        #expect(
            saving.answered(attempt: 1, at: .at(3)) == [
                .saved([first]), .askWillSave(attempt: 2), .needsSaveChanged(false),
            ])
        #expect(saving.answered(attempt: 2, at: .at(4)) == [.saved([second])])
    }

    @Test("after two seconds the last state is handed off, and a late answer is not heard")
    func timeout() {
        var saving = Saving()
        _ = saving.request(first, at: .at(0))
        #expect(saving.nextDeadline == .at(2000))
        #expect(saving.advance(to: .at(1999)) == [])
        #expect(saving.isAwaiting(attempt: 1))
        #expect(saving.advance(to: .at(2000)) == [.gaveUp(.timedOut, [first])])
        #expect(!saving.isAwaiting(attempt: 1))
        #expect(saving.answered(attempt: 1, at: .at(2001)) == [])
    }

    @Test("the answer to a call that was given up is not taken for that to the next")
    func confusedAnswers() {
        var saving = Saving()
        _ = saving.request(first, at: .at(0))
        _ = saving.advance(to: .at(2000))
        #expect(saving.request(second, at: .at(2001)) == [.askWillSave(attempt: 2)])
        #expect(saving.answered(attempt: 1, at: .at(2002)) == [])
        #expect(saving.failed(attempt: 1, message: "late", at: .at(2002)) == [])
        #expect(saving.answered(attempt: 2, at: .at(2003)) == [.saved([second])])
    }

    @Test("an error hands off the last state, and the next continuation asks again")
    func failure() {
        var saving = saved()
        _ = saving.setNeedsSave(true, at: .at(1))
        _ = saving.request(first, at: .at(2))
        #expect(saving.failed(attempt: 2, message: "no", at: .at(3)) == [.gaveUp(.failed("no"), [first])])
        #expect(saving.request(second, at: .at(4)) == [.askWillSave(attempt: 3)])
    }

    @Test("an application that never answers is not asked again by itself")
    func hung() {
        var saving = Saving()
        _ = saving.setCurrent(true, at: .at(0))
        _ = saving.setNeedsSave(true, at: .at(0))
        #expect(saving.advance(to: .at(2000)) == [.gaveUp(.timedOut, [])])
        #expect(saving.nextDeadline == nil)
    }

    @Test("a continuation that is over no longer waits")
    func forgotten() {
        var saving = Saving()
        _ = saving.request(first, at: .at(0))
        saving.forget(first)
        #expect(saving.answered(attempt: 1, at: .at(1)) == [])
    }

    @Test("when the activity is gone, those who wait are refused, and so is everybody after")
    func invalidated() {
        var saving = Saving()
        _ = saving.request(first, at: .at(0))
        #expect(saving.invalidate() == [.gaveUp(.invalidated, [first])])
        #expect(saving.request(second, at: .at(1)) == [.gaveUp(.invalidated, [second])])
        #expect(saving.setNeedsSave(true, at: .at(2)) == [])
        #expect(saving.setCurrent(true, at: .at(2)) == [])
        #expect(saving.nextDeadline == nil)
        #expect(saving.invalidate() == [])
    }
}

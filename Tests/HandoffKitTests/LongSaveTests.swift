// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffKit
import HandoffTesting
import Testing

/// Rules D4 and D8, where a save takes long or does not end.
@MainActor @Suite("A save that takes its time")
struct LongSaveTests {
    let broker = TestBroker()
    let notes: HandoffApplication
    let activity: UserActivity
    let gate = Gate()

    init() async {
        broker.holdClock()
        notes = broker.application(id: "org.example.Notes", activityTypes: [edit])
        activity = UserActivity(activityType: edit, title: "Note", application: notes)
        activity.userInfo = ["former": true]
    }

    /// Has a save begin, which puts a half together, waits for the gate, and then the other half.
    private func beginSave() async {
        let gate = gate
        activity.onWillSave {
            $0.userInfo["half"] = 1
            await gate.wait()
            $0.userInfo["other"] = 2
        }
        activity.becomeCurrent()
        activity.needsSave = true
        await broker.settle()
    }

    private func finishSave() async {
        gate.open()
        await gate.passed()
        await broker.settle()
    }

    private static let whole: UserInfo = ["half": 1, "other": 2]

    @Test("a save that never ends holds setters and saves back for two seconds, then they travel again")
    func endless() async {
        var saves = 0
        let endless = Gate()
        activity.onWillSave {
            saves += 1
            $0.userInfo["half", as: Int.self] = saves
            await endless.wait()
        }
        activity.becomeCurrent()
        activity.needsSave = true
        await broker.settle()
        activity.title = "Renamed"
        await broker.settle()
        #expect(saves == 1 && broker.currentActivity?.title == "Note")
        await broker.advance(by: .seconds(2))
        #expect(broker.currentActivity?.title == "Renamed")
        #expect(activity.userInfo == ["former": true] && broker.currentActivity?.userInfo == ["former": true])
        activity.userInfo = ["newer": true]
        await broker.settle()
        #expect(broker.currentActivity?.userInfo == ["newer": true])
        activity.needsSave = true
        await broker.advance(by: .seconds(1))
        #expect(saves == 2)
        await broker.advance(by: .seconds(2))
        #expect(activity.userInfo == ["newer": true] && broker.currentActivity?.userInfo == ["newer": true])
        // What the first of them has put together is older than that.
        endless.open()
        await endless.passed()
        await broker.settle()
        #expect(activity.userInfo == broker.currentActivity?.userInfo)
    }

    @Test("no more than a few saves that do not end are waited for at a time")
    func many() async {
        var saves = 0
        let endless = Gate()
        activity.onWillSave { _ in
            saves += 1
            await endless.wait()
        }
        activity.becomeCurrent()
        for _ in 0..<10 {
            activity.needsSave = true
            await broker.settle()
            await broker.advance(by: .seconds(3))
        }
        #expect(saves == 4)
        endless.open()
        await endless.passed()
        await broker.settle()
        activity.needsSave = true
        await broker.advance(by: .seconds(1))
        #expect(saves == 5)
    }

    @Test("what a save puts together that was given up is no part of the activity before it is whole")
    func givenUp() async {
        await beginSave()
        await broker.advance(by: .seconds(2))
        #expect(activity.userInfo == ["former": true])
        await finishSave()
        #expect(activity.userInfo == Self.whole && broker.currentActivity?.userInfo == Self.whole)
    }

    @Test("a save that was given up does not take back what was set since")
    func overtaken() async {
        await beginSave()
        await broker.advance(by: .seconds(2))
        activity.userInfo = ["newer": true]
        await finishSave()
        #expect(activity.userInfo == ["newer": true] && broker.currentActivity?.userInfo == ["newer": true])
    }

    @Test("an application that stops and starts during a save creates its activity with the former state")
    func restarted() async {
        await beginSave()
        notes.stop()
        notes.start()
        activity.becomeCurrent()
        await broker.settle()
        #expect(broker.currentActivity?.userInfo == ["former": true])
        await finishSave()
        #expect(activity.userInfo == Self.whole && broker.currentActivity?.userInfo == Self.whole)
    }

    @Test("a broker that begins anew during a save gets the former state, and the new one once it is whole")
    func newBroker() async {
        await beginSave()
        broker.restart()
        await broker.settle()
        #expect(broker.currentActivity?.userInfo == ["former": true])
        await finishSave()
        #expect(activity.userInfo == Self.whole)
    }

    @Test("an activity that ends during a save sends nothing more, and an unset state stays unset")
    func ended() async {
        await beginSave()
        let before = broker.calls.count
        activity.invalidate()
        await finishSave()
        #expect(broker.calls.dropFirst(before) == [.invalidate] && broker.currentActivity == nil)
    }

    @Test("a state that is refused while it is put together does not empty the former")
    func refused() async throws {
        activity.onWillSave { $0.userInfo = ["text": "\0"] }
        activity.becomeCurrent()
        await broker.settle()
        #expect(try await broker.continueElsewhere().userInfo == ["former": true])
        #expect(activity.userInfo == ["former": true])
    }

    @Test("what was set in the turn in which a save begins is there if the save fails")
    func unsent() async throws {
        activity.onWillSave { _ in throw HandoffError(.applicationFailed, "Not now.") }
        activity.becomeCurrent()
        await broker.settle()
        async let state = broker.continueElsewhere()
        activity.userInfo = ["latest": true]
        #expect(try await state.userInfo == ["latest": true])
    }
}

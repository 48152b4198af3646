// SPDX-License-Identifier: LGPL-2.1-or-later
import FoundationEssentials
import HandoffKit
import HandoffTesting
import Testing

/// Rules R1 (a delegate), R2 and R3, F8, and D as the library keeps it.
@MainActor @Suite("Saving")
struct SavingTests {
    let broker = TestBroker()
    let notes: HandoffApplication
    let activity: UserActivity

    init() {
        notes = broker.application(id: "org.example.Notes", activityTypes: [edit])
        activity = UserActivity(activityType: edit, title: "Note", application: notes)
    }

    final class Editor: UserActivityResponder {
        let activityAssociation = ActivityAssociation()
        let key: String
        var saves = 0
        var restored: [UserInfo] = []

        init(_ key: String) { self.key = key }

        func updateUserActivityState(_ activity: UserActivity) {
            saves += 1
            activity.userInfo[key, as: Int.self] = saves
        }
        func restoreUserActivityState(_ activity: UserActivity) { restored.append(activity.userInfo) }
    }

    final class Delegate: UserActivityDelegate {
        var events: [String] = []
        var failure: HandoffError?

        func userActivityWillSave(_ activity: UserActivity) async throws {
            events.append("will save \(activity.userInfo.entries.count)")
            if let failure { throw failure }
            activity.userInfo["by"] = "delegate"
        }
        func userActivityDidUpdate(_ activity: UserActivity) { events.append("did update") }
        func userActivityWasContinued(_ activity: UserActivity, on device: ContinuationDevice) {
            events.append("was continued on \(device.name)")
        }
        func userActivity(_ activity: UserActivity, didFail error: HandoffError) {
            events.append("did fail \(error.code)")
        }
    }

    @Test("setting a responder's activity associates them, and the state is saved through the responder")
    func responder() async throws {
        let editor = Editor("line")
        editor.userActivity = activity
        #expect(activity.responders.map(ObjectIdentifier.init) == [ObjectIdentifier(editor)])
        activity.becomeCurrent()
        await broker.settle()
        let state = try await broker.continueElsewhere()
        #expect(state.userInfo == ["line": 1])
        #expect(editor.saves == 1)
    }

    @Test("needsSave asks for a save while the activity is current, at most once a second")
    func needsSave() async throws {
        broker.holdClock()
        let editor = Editor("line")
        editor.userActivity = activity
        activity.needsSave = true
        await broker.settle()
        #expect(editor.saves == 0)
        activity.becomeCurrent()
        await broker.settle()
        #expect(editor.saves == 1 && !activity.needsSave)
        for _ in 0..<10 {
            activity.needsSave = true
            await broker.settle()
        }
        #expect(editor.saves == 1 && activity.needsSave)
        await broker.advance(by: .seconds(1))
        #expect(editor.saves == 2 && !activity.needsSave)
        #expect(broker.currentActivity?.userInfo == ["line": 2])
    }

    @Test("several responders share an activity, and all are asked")
    func several() async throws {
        let (form, list) = (Editor("field"), Editor("row"))
        form.userActivity = activity
        list.userActivity = activity
        activity.becomeCurrent()
        await broker.settle()
        let state = try await broker.continueElsewhere()
        #expect(state.userInfo == ["field": 1, "row": 1])
    }

    @Test("unsetting dissociates a responder; with none left the activity is invalidated by itself")
    func dissociating() async throws {
        let (form, list) = (Editor("field"), Editor("row"))
        form.userActivity = activity
        list.userActivity = activity
        activity.becomeCurrent()
        await broker.settle()
        list.userActivity = nil
        await broker.settle()
        #expect(activity.isValid)
        let state = try await broker.continueElsewhere()
        #expect(state.userInfo == ["field": 1])
        form.userActivity = nil
        await broker.settle()
        #expect(!activity.isValid && broker.activityCount == 0)
    }

    @Test("a responder that is freed is dissociated, and the last one takes the activity along")
    func freed() async {
        var form: Editor? = Editor("field")
        form?.userActivity = activity
        activity.becomeCurrent()
        await broker.settle()
        form = nil
        await broker.settle()
        #expect(!activity.isValid && broker.activityCount == 0)
    }

    @Test("an activity that goes from one responder to another in one turn of the loop stays valid")
    func handedOn() async {
        let (form, list) = (Editor("field"), Editor("row"))
        form.userActivity = activity
        form.userActivity = nil
        list.userActivity = activity
        await broker.settle()
        #expect(activity.isValid && list.userActivity === activity && form.userActivity == nil)
    }

    @Test("an activity that has ended is not associated, and says so")
    func ended() async {
        var errors: [HandoffError.Code] = []
        activity.onFailure { errors.append($1.code) }
        let (form, other) = (Editor("field"), UserActivity(activityType: edit, application: notes))
        form.userActivity = other
        activity.invalidate()
        form.userActivity = activity
        #expect(form.userActivity == nil && errors == [.unknownObject])
        await broker.settle()
        #expect(!other.isValid)
    }

    @Test("what has no class is a responder by closures")
    func closures() async throws {
        let place = ClosureResponder(activity) { $0.userInfo["place"] = "kitchen" }
        activity.becomeCurrent()
        await broker.settle()
        #expect(try await broker.continueElsewhere().userInfo == ["place": "kitchen"])
        #expect(place.userActivity === activity)
    }

    @Test("the delegate is asked to save, and told of the update and of being continued")
    func delegate() async throws {
        let delegate = Delegate()
        activity.delegate = delegate
        activity.userInfo = ["former": true]
        activity.becomeCurrent()
        await broker.settle()
        let state = try await broker.continueElsewhere(on: "Desktop")
        #expect(state.userInfo == ["by": "delegate"])
        #expect(delegate.events == ["will save 0", "did update", "was continued on Desktop"])
    }

    @Test("user info is empty when a save begins, and the former stays if nothing is put there")
    func formerStays() async throws {
        activity.userInfo = ["former": true]
        activity.onWillSave {
            #expect($0.userInfo.isEmpty)
            $0.title = "Renamed"
        }
        activity.becomeCurrent()
        await broker.settle()
        let state = try await broker.continueElsewhere()
        #expect(state.userInfo == ["former": true] && state.title == "Renamed")
        #expect(activity.userInfo == ["former": true])
    }

    @Test("a save that fails loses nothing: the last state is handed off")
    func failing() async throws {
        activity.userInfo = ["former": true]
        activity.onWillSave {
            $0.userInfo["half"] = true
            throw HandoffError(.applicationFailed, "Not now.")
        }
        activity.becomeCurrent()
        await broker.settle()
        #expect(try await broker.continueElsewhere().userInfo == ["former": true])
        #expect(activity.userInfo == ["former": true])
    }

    @Test("a save that comes too late counts nevertheless, from then on")
    func late() async throws {
        let gate = Gate()
        activity.onWillSave {
            $0.userInfo = ["late": true]
            await gate.wait()
        }
        activity.becomeCurrent()
        await broker.settle()
        async let state = broker.continueElsewhere()
        #expect(try await state.userInfo.isEmpty)
        gate.open()
        await gate.passed()
        await broker.settle()
        #expect(broker.currentActivity?.userInfo == ["late": true])
    }

    @Test("a state that a save is still putting together does not travel, whatever else is called meanwhile")
    func halfMade() async throws {
        broker.holdClock()
        let gate = Gate()
        activity.userInfo = ["former": true]
        activity.onWillSave {
            $0.title = "Renamed"
            await gate.wait()
        }
        activity.becomeCurrent()
        activity.needsSave = true
        await broker.settle()
        #expect(activity.userInfo.isEmpty)
        activity.resignCurrent()
        activity.becomeCurrent()
        await broker.settle()
        #expect(broker.currentActivity?.userInfo == ["former": true])
        #expect(broker.currentActivity?.title == "Renamed")
        gate.open()
        await gate.passed()
        await broker.settle()
        #expect(broker.currentActivity?.userInfo == ["former": true])
        #expect(activity.userInfo == ["former": true])
    }

    @Test("responders save on behalf of the application that the activity is of")
    func actingResponder() async throws {
        var shared: [ObjectIdentifier?] = []
        let responder = ClosureResponder(activity) { _ in
            shared.append(HandoffApplication.shared.map { ObjectIdentifier($0) })
        }
        let other = broker.application(id: "org.example.Other")
        activity.becomeCurrent()
        await broker.settle()
        _ = try await broker.continueElsewhere()
        #expect(shared == [ObjectIdentifier(notes)])
        withExtendedLifetime((responder, other)) {}
    }

    @Test("a test may end while an application still saves, and its broker ends with it")
    func endOfTest() async throws {
        let gate = Gate()
        var own: TestBroker? = TestBroker()
        weak let former = own
        var application = own?.application(id: "org.example.Short", activityTypes: [edit])
        var short: UserActivity? = UserActivity(application: application)
        short?.onWillSave { _ in
            await gate.wait()
            throw HandoffError(.applicationFailed, "Too late.")
        }
        short?.becomeCurrent()
        short?.needsSave = true
        await own?.settle()
        (short, application, own) = (nil, nil, nil)
        gate.open()
        await gate.passed()
        for _ in 0..<1000 where former != nil { await Task.yield() }
        #expect(former == nil)
    }

    @Test("position and selection travel in user info")
    func position() async throws {
        activity.documentURL = URL(string: "file:///tmp/note.txt")
        activity.onWillSave { $0.userInfo = ["line": 12, "selection": [3, 9]] }
        activity.becomeCurrent()
        activity.needsSave = true
        await broker.settle()
        let info = try #require(broker.currentActivity).userInfo
        #expect(info["line", as: Int.self] == 12 && info["selection", as: [Int].self] == [3, 9])
    }

    @Test("a change right after a save began is saved again")
    func changeWhileSaving() async throws {
        broker.holdClock()
        var texts = ["second", "first"]
        activity.onWillSave {
            $0.userInfo["text", as: String.self] = texts.removeLast()
            if texts.count == 1 { $0.needsSave = true }
        }
        activity.becomeCurrent()
        activity.needsSave = true
        await broker.settle()
        #expect(broker.currentActivity?.userInfo == ["text": "first"] && activity.needsSave)
        await broker.advance(by: .seconds(1))
        #expect(broker.currentActivity?.userInfo == ["text": "second"] && !activity.needsSave)
    }
}

/// What keeps a task of a test waiting.
@MainActor
final class Gate {
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isOpen = false
    private var hasPassed = false
    private var watchers: [CheckedContinuation<Void, Never>] = []

    func wait() async {
        if !isOpen { await withCheckedContinuation { waiting.append($0) } }
        hasPassed = true
        for watcher in watchers { watcher.resume() }
        watchers = []
    }

    func open() {
        isOpen = true
        for waiter in waiting { waiter.resume() }
        waiting = []
    }

    func passed() async {
        if !hasPassed { await withCheckedContinuation { watchers.append($0) } }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import FoundationEssentials
import HandoffCore
import HandoffKit
import HandoffTesting
import Observation
import Testing

/// Rule R1, and that nothing is lost.
@MainActor @Suite("Activities of an application")
struct UserActivityTests {
    let broker = TestBroker()
    let notes: HandoffApplication

    init() {
        notes = broker.application(id: "org.example.Notes", activityTypes: [edit, "org.example.notes.view"])
    }

    func activity(_ title: String = "") -> UserActivity {
        UserActivity(activityType: edit, title: title, application: notes)
    }

    @Test("an activity has the properties that NSUserActivity has, and all of them reach the broker")
    func properties() async throws {
        let activity = activity("Shopping")
        activity.userInfo = ["line": 3]
        activity.requiredUserInfoKeys = ["line"]
        activity.webpageURL = URL(string: "https://example.org/list")
        activity.documentURL = URL(string: "file:///tmp/list.txt")
        activity.referrerURL = URL(string: "https://example.org/")
        activity.keywords = ["milk", "bread"]
        activity.expirationDate = Date(timeIntervalSinceNow: 3600)
        activity.targetContentIdentifier = "list"
        activity.persistentIdentifier = "7"
        activity.isEligibleForSearch = true
        activity.supportsContinuationStreams = true
        activity.becomeCurrent()
        await broker.settle()
        let known = try #require(broker.currentActivity)
        #expect(known.activityType == edit)
        #expect(known.title == "Shopping")
        #expect(known.userInfo == ["line": 3])
        #expect(
            known.properties == [
                "Title", "UserInfo", "RequiredUserInfoKeys", "WebpageURL", "DocumentURL", "ReferrerURL",
                "Keywords", "ExpirationDate", "TargetContentIdentifier", "PersistentIdentifier",
                "EligibleForSearch", "SupportsContinuationStreams",
            ])
    }

    @Test("becomeCurrent, resignCurrent, leaveCurrent and invalidate do what they say, and isCurrent tells")
    func life() async {
        let (first, second) = (activity("First"), activity("Second"))
        first.becomeCurrent()
        await broker.settle()
        #expect(first.isCurrent)
        second.becomeCurrent()
        await broker.settle()
        #expect(!first.isCurrent && second.isCurrent)
        second.resignCurrent()
        await broker.settle()
        #expect(!second.isCurrent && broker.currentActivity == nil)
        second.becomeCurrent()
        await broker.settle()
        second.leaveCurrent()
        await broker.settle()
        #expect(!second.isCurrent && broker.currentActivity == nil && broker.calls.last == .leaveCurrent)
        first.becomeCurrent()
        first.invalidate()
        await broker.settle()
        #expect(!first.isValid && broker.activityCount == 1)
    }

    @Test("becomeOpen makes an activity known without making it current")
    func opening() async {
        let (first, second) = (activity("First"), activity("Second"))
        first.becomeCurrent()
        second.becomeOpen()
        await broker.settle()
        #expect(first.isCurrent && !second.isCurrent && broker.activityCount == 2)
        #expect(broker.calls.contains(.becomeOpen))
        second.resignCurrent()
        await broker.settle()
        #expect(first.isCurrent && broker.calls.last == .resignCurrent)
    }

    @Test("an activity that has ended can't become current, and says so")
    func invalid() async {
        let activity = activity()
        var errors: [HandoffError.Code] = []
        activity.onFailure { errors.append($1.code) }
        activity.invalidate()
        activity.becomeCurrent()
        await broker.settle()
        #expect(errors == [.unknownObject])
        #expect(broker.currentActivity == nil)
    }

    @Test("an activity that nobody holds any more ends")
    func freed() async {
        var activity: UserActivity? = activity("Gone")
        activity?.becomeCurrent()
        await broker.settle()
        #expect(broker.currentActivity?.title == "Gone")
        activity = nil
        await broker.settle()
        #expect(broker.activityCount == 0)
    }

    @Test("1,000 setters in one turn of the loop are one Update")
    func oneUpdate() async {
        let activity = activity()
        activity.becomeCurrent()
        await broker.settle()
        let before = broker.calls.count
        for number in 0..<1000 {
            activity.title = "Title \(number)"
            activity.userInfo["number", as: Int.self] = number
        }
        await broker.settle()
        #expect(broker.calls.dropFirst(before) == [.update(["Title", "UserInfo"])])
        #expect(broker.currentActivity?.title == "Title 999")
        #expect(broker.currentActivity?.userInfo["number", as: Int.self] == 999)
    }

    @Test("what a rule of the broker's refuses leaves the former value, and is reported at once")
    func refusals() async throws {
        let activity = activity("Fine")
        let page = URL(string: "https://example.org/")
        activity.webpageURL = page
        var errors: [HandoffError.Code] = []
        activity.onFailure { errors.append($1.code) }
        activity.webpageURL = URL(string: "ftp://example.org/")
        activity.documentURL = page
        activity.userInfo = ["much": .data(Data(count: 131_072))]
        activity.userInfo = ["deep": Self.nested(20)]
        activity.userInfo = ["text": "\0"]
        activity.title = String(repeating: "a", count: 4097)
        #expect(
            errors == [
                .invalidURL, .invalidURL, .userInfoTooLarge, .invalidArguments, .invalidArguments,
                .limitsExceeded,
            ])
        #expect(activity.webpageURL == page && activity.documentURL == nil && activity.title == "Fine")
        #expect(activity.userInfo.isEmpty)
    }

    static func nested(_ depth: Int) -> UserInfoValue {
        depth == 0 ? .null : ["inside": nested(depth - 1)]
    }

    @Test("set(_:to:) throws instead of reporting, and then nothing has changed")
    func throwingSetter() throws {
        let activity = activity()
        var reports = 0
        activity.onFailure { _, _ in reports += 1 }
        let error = #expect(throws: HandoffError.self) {
            try activity.set(\.webpageURL, to: URL(string: "file:///etc/passwd"))
        }
        #expect(error?.code == .invalidURL && activity.webpageURL == nil && reports == 0)
        try activity.set(\.title, to: "Good")
        #expect(activity.title == "Good")
    }

    @Test("what the broker refuses is reported: a type that is not declared")
    func undeclared() async {
        let activity = UserActivity(activityType: "org.example.other", application: notes)
        var message = ""
        activity.onFailure { message = $1.message }
        activity.becomeCurrent()
        await broker.settle()
        #expect(message.contains(edit))
        #expect(broker.currentActivity == nil)
    }

    @Test("entries are added to user info by key")
    func addEntries() {
        let activity = activity()
        activity.userInfo = ["a": 1, "b": 2]
        activity.addUserInfoEntries(from: ["b": 3, "c": 4])
        #expect(activity.userInfo == ["a": 1, "b": 3, "c": 4])
    }

    @Test("without a type an activity has the first that the application declares")
    func defaultType() async {
        let activity = UserActivity(application: notes)
        #expect(activity.activityType == edit)
        activity.becomeCurrent()
        await broker.settle()
        #expect(broker.currentActivity?.activityType == edit)
    }

    @Test("an activity with a document has the type that the broker chooses for that")
    func documentType() async {
        let editor = broker.application(
            id: "org.example.Editor", activityTypes: [edit],
            documentTypes: ["text/plain": "org.example.editor.text"])
        let activity = UserActivity(application: editor)
        activity.documentURL = URL(string: "file:///tmp/note.txt")
        #expect(activity.activityType == edit)
        activity.becomeCurrent()
        await broker.settle()
        #expect(activity.activityType == "org.example.editor.text")
        #expect(broker.currentActivity?.activityType == "org.example.editor.text")
    }

    @Test("properties can be observed one by one")
    func observing() async {
        let activity = activity()
        let changes = Counter()
        withObservationTracking {
            _ = activity.title
        } onChange: {
            changes.count += 1
        }
        activity.userInfo = ["a": 1]
        #expect(changes.count == 0)
        activity.title = "New"
        #expect(changes.count == 1)
        withObservationTracking {
            _ = activity.isCurrent
        } onChange: {
            changes.count += 1
        }
        activity.becomeCurrent()
        await broker.settle()
        #expect(changes.count == 2)
    }

    @Test("activities are made and made current again when the broker was restarted, with their latest state")
    func restart() async {
        let activity = activity("Before")
        activity.becomeCurrent()
        await broker.settle()
        broker.stop()
        await broker.settle()
        #expect(!activity.isCurrent && !notes.isRegistered)
        activity.title = "Meanwhile"
        await broker.settle()
        broker.start()
        await broker.settle()
        #expect(activity.isCurrent && notes.isRegistered)
        #expect(broker.currentActivity?.title == "Meanwhile")
    }

    @Test("without a broker everything is accepted and does nothing")
    func absent() async {
        broker.stop()
        await broker.settle()
        let activity = activity("Alone")
        activity.becomeCurrent()
        activity.needsSave = true
        activity.userInfo = ["a": 1]
        await broker.settle()
        #expect(!activity.isCurrent && !notes.isRegistered)
        activity.resignCurrent()
        activity.invalidate()
        await broker.settle()
    }

    @Test("stopping takes all activities back, and after another start they can become current")
    func stopping() async {
        let activity = activity("Again")
        activity.becomeCurrent()
        await broker.settle()
        notes.stop()
        await broker.settle()
        #expect(broker.registeredApplications.isEmpty && broker.activityCount == 0 && !activity.isCurrent)
        notes.start()
        activity.becomeCurrent()
        await broker.settle()
        #expect(activity.isCurrent)
    }

    @Test("an application that was stopped does not count as registered by what was on its way then")
    func stoppingEarly() async {
        let application = broker.application(id: "org.example.Early", activityTypes: [edit])
        application.stop()
        await broker.settle()
        #expect(!application.isRegistered && broker.registeredApplications == ["org.example.Notes"])
    }

    @Test("an activity whose application is gone is current no longer, and can become so in another")
    func applicationGone() async throws {
        let other = TestBroker()
        var former: HandoffApplication? = other.application(id: "org.example.Former", activityTypes: [edit])
        let activity = UserActivity(activityType: edit, title: "Orphan", application: former)
        activity.becomeCurrent()
        await other.settle()
        #expect(activity.isCurrent)
        former = nil
        await other.settle()
        #expect(!activity.isCurrent && other.activityCount == 0)
        await broker.run(as: notes) {
            activity.becomeCurrent()
            await broker.settle()
        }
        #expect(activity.isCurrent && broker.currentActivity?.title == "Orphan")
    }

    @Test("each failure of the interfaces has its code")
    func codes() {
        let codes = HandoffFailure.Code.allCases.map { HandoffError(HandoffFailure($0, "")).code }
        #expect(codes.count == 19 && Set(codes).count == 19)
        #expect(codes.map(\.description) == HandoffFailure.Code.allCases.map { "\($0)" })
    }
}

/// The type of most activities here.
let edit = "org.example.notes.edit"

/// Counts on whatever thread.
final class Counter: @unchecked Sendable {
    // @unchecked: the tests that use it do so on the main actor alone.
    var count = 0
}

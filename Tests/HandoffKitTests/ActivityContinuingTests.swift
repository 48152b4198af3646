// SPDX-License-Identifier: LGPL-2.1-or-later
import FoundationEssentials
import HandoffKit
import HandoffTesting
import Testing

/// Rules R5 and R7, and from one device to the other.
@MainActor @Suite("Continuing")
struct ContinuingTests {
    let laptop: TestBroker
    let desktop: TestBroker
    let here: HandoffApplication
    let there: HandoffApplication
    let activity: UserActivity

    init() async {
        (laptop, desktop) = TestBroker.pair("Laptop", "Desktop")
        here = laptop.application(id: "org.example.Notes", activityTypes: [edit])
        there = desktop.application(id: "org.example.Notes", activityTypes: [edit])
        activity = UserActivity(activityType: edit, title: "Note", application: here)
        activity.becomeCurrent()
        await laptop.settle()
    }

    final class Restorer: HandoffApplicationDelegate {
        var objects: [any UserActivityResponder] = []
        var events: [String] = []

        func application(
            _ application: HandoffApplication, willContinueActivityOfType activityType: String,
            from device: ContinuationDevice
        ) -> Bool {
            events.append("will continue \(activityType) from \(device.name)")
            return true
        }
        func application(
            _ application: HandoffApplication, continue activity: UserActivity,
            restorationHandler: @escaping HandoffApplication.RestorationHandler
        ) async throws -> Bool {
            events.append("continue from \(activity.origin?.name ?? "nowhere")")
            restorationHandler(objects)
            return true
        }
        func application(
            _ application: HandoffApplication, didFailToContinueActivityOfType activityType: String,
            error: HandoffError
        ) { events.append("did fail \(error.code)") }
        func application(_ application: HandoffApplication, didUpdate activity: UserActivity) {
            events.append("did update")
        }
    }

    @Test("what is saved on one device is continued on the other, which the first is told")
    func continuing() async throws {
        activity.onWillSave { $0.userInfo = ["text": "Milk"] }
        var device = ""
        activity.onWasContinued { device = $1.name }
        var received: UserInfo = [:]
        there.onContinue { activity, device in
            received = activity.userInfo
            #expect(device.name == "Laptop" && activity.origin == device && activity.title == "Note")
            return true
        }
        try await desktop.continueActivity()
        #expect(received == ["text": "Milk"] && device == "Desktop")
    }

    @Test("restoreUserActivityState is called on each object that the restoration handler is given")
    func restoring() async throws {
        activity.userInfo = ["text": "Milk"]
        let restorer = Restorer()
        let (form, list) = (SavingTests.Editor("field"), SavingTests.Editor("row"))
        restorer.objects = [form, list]
        there.delegate = restorer
        try await desktop.continueActivity()
        #expect(form.restored == [["text": "Milk"]] && list.restored == [["text": "Milk"]])
        #expect(restorer.events == ["will continue \(edit) from Laptop", "continue from Laptop"])
    }

    @Test("an activity that arrives before the windows exist is kept until the application asks for it")
    func kept() async throws {
        there.isReady = false
        var titles: [String] = []
        there.onContinue { activity, _ in
            titles.append(activity.title)
            return true
        }
        async let outcome: Void = desktop.continueActivity()
        while there.pending.isEmpty { await Task.yield() }
        #expect(titles.isEmpty && there.pending.map(\.title) == ["Note"])
        there.isReady = true
        try await outcome
        #expect(titles == ["Note"] && there.pending.isEmpty)
    }

    @Test("an activity that arrives before anybody continues is kept for whoever comes")
    func keptForHandler() async throws {
        async let outcome: Void = desktop.continueActivity()
        while there.pending.isEmpty { await Task.yield() }
        let restorer = Restorer()
        there.delegate = restorer
        try await outcome
        #expect(restorer.events == ["continue from Laptop"])
    }

    @Test("what is kept counts as continued after half a minute; of more than eight such the oldest goes")
    func tooMany() async throws {
        for broker in [laptop, desktop] { broker.holdClock() }
        there.isReady = false
        var titles: [String] = []
        there.onContinue { activity, _ in
            titles.append(activity.title)
            return true
        }
        for number in 1...9 {
            let activity = UserActivity(activityType: edit, title: "\(number)", application: here)
            activity.becomeCurrent()
            await laptop.settle()
            async let outcome: Void = desktop.continueActivity()
            while there.pending.last?.title != "\(number)" { await Task.yield() }
            await desktop.advance(by: .seconds(28))
            try await outcome
        }
        #expect(there.pending.count == 8)
        there.isReady = true
        await desktop.settle()
        #expect(titles == (2...9).map(String.init))
    }

    @Test("an application can take what was kept itself")
    func taking() async throws {
        async let outcome: Void = desktop.continueActivity()
        while there.pending.isEmpty { await Task.yield() }
        let taken = try #require(there.takePending())
        try await outcome
        #expect(taken.title == "Note" && there.takePending() == nil)
    }

    @Test("what the application throws is what the user is told")
    func throwing() async throws {
        there.onContinue { _, _ in throw HandoffError(.applicationFailed, "This note is too new.") }
        let error = await #expect(throws: HandoffError.self) { try await desktop.continueActivity() }
        #expect(error?.message.hasSuffix("This note is too new.") == true)
    }

    @Test("a continuation that dies with its broker ends in didFailToContinue, once")
    func brokerDies() async throws {
        let restorer = Restorer()
        there.delegate = restorer
        let gate = Gate()
        activity.onWillSave { _ in await gate.wait() }
        let outcome = Task { try await desktop.continueActivity() }
        while restorer.events.isEmpty { await Task.yield() }
        desktop.restart()
        gate.open()
        await #expect(throws: HandoffError.self) { try await outcome.value }
        #expect(restorer.events == ["will continue \(edit) from Laptop", "did fail connectionUnavailable"])
    }

    @Test("the continuing application can make the activity current, and hand it back")
    func back() async throws {
        activity.userInfo = ["text": "Milk"]
        var mine: UserActivity?
        there.onContinue { activity, _ in
            mine = activity
            activity.userInfo["text"] = "Milk and bread"
            activity.becomeCurrent()
            return true
        }
        try await desktop.continueActivity()
        await desktop.settle()
        #expect(mine?.isCurrent == true)
        var text: UserInfoValue?
        here.onContinue { activity, _ in
            text = activity.userInfo["text"]
            return true
        }
        try await laptop.continueActivity()
        #expect(text == "Milk and bread")
    }

    @Test("with Handoff switched off nothing is offered")
    func switchedOff() async throws {
        #expect(desktop.offeredByPeer?.title == "Note")
        laptop.isEnabled = false
        #expect(desktop.offeredByPeer == nil)
        let error = await #expect(throws: HandoffError.self) { try await desktop.continueActivity() }
        #expect(error?.code == .offerWithdrawn)
    }

    @Test("code that makes its application itself is tested with a broker of its own")
    func ownApplication() async throws {
        let broker = TestBroker()
        await broker.use {
            let application = HandoffApplication(id: "org.example.Own", activityTypes: [edit])
            application.start()
            await broker.settle()
            #expect(broker.registeredApplications == ["org.example.Own"])
            await broker.run(as: application) {
                #expect(HandoffApplication.shared === application && HandoffApplication.isAvailable)
                let activity = UserActivity(title: "Mine")
                activity.becomeCurrent()
                await broker.settle()
            }
        }
    }

    @Test("a registration that is refused says why")
    func refusedRegistration() async {
        let application = laptop.application(id: "not an id")
        await laptop.settle()
        #expect(!application.isRegistered && application.registrationError?.code == .invalidArguments)
    }
}

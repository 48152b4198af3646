// SPDX-License-Identifier: LGPL-2.1-or-later
import FoundationEssentials
import Glibc
import HandoffKit
import HandoffTesting
import TestSupport
import Testing

/// The examples of the article “Coming from NSUserActivity”, row by row; see ArticleTests.swift.
@MainActor @Suite("Coming from NSUserActivity")
struct ComingFromNSUserActivityTests {
    struct Note: Codable, Equatable {
        var text = "Milk"
    }

    final class ViewController: UserActivityResponder {
        let activityAssociation = ActivityAssociation()
        var text = ""

        func viewDidAppear(_ activity: UserActivity) { userActivity = activity }
        func viewDidDisappear() { userActivity = nil }

        func updateUserActivityState(_ activity: UserActivity) {
            activity.addUserInfoEntries(from: ["text": .string(text)])
        }
        func restoreUserActivityState(_ activity: UserActivity) {
            text = activity.userInfo["text", as: String.self] ?? ""
        }
    }

    final class ActivityDelegate: UserActivityDelegate {
        var devices: [String] = []
        var received = Data()

        func userActivityWillSave(_ activity: UserActivity) async throws {
            try activity.setTypedPayload(Note())
        }
        func userActivityWasContinued(_ activity: UserActivity, on device: ContinuationDevice) {
            devices.append(device.name)
        }
        func userActivity(_ activity: UserActivity, didReceive stream: ContinuationStream) {
            Task {
                for try await chunk in stream.bytes { received.append(chunk) }
                try await stream.finish()
            }
        }
    }

    final class AppDelegate: HandoffApplicationDelegate {
        let controller = ViewController()
        var updates = 0
        var failure: HandoffError?

        func application(
            _ application: HandoffApplication, willContinueActivityOfType activityType: String,
            from device: ContinuationDevice
        ) -> Bool {
            activityType == "com.example.notes.edit"
        }
        func application(
            _ application: HandoffApplication, continue activity: UserActivity,
            restorationHandler: @escaping HandoffApplication.RestorationHandler
        ) async throws -> Bool {
            restorationHandler([controller])
            return true
        }
        func application(
            _ application: HandoffApplication, didFailToContinueActivityOfType activityType: String,
            error: HandoffError
        ) { failure = error }
        func application(_ application: HandoffApplication, didUpdate activity: UserActivity) { updates += 1 }
    }

    @Test("what the article shows does what it says")
    func rows() async throws {
        let (laptop, desktop) = TestBroker.pair()
        let application = laptop.use {
            HandoffApplication(
                id: "com.example.Notes", activityTypes: ["com.example.notes.edit"], team: "com.example",
                documentTypes: ["text/plain": "com.example.notes.text"], domains: ["notes.example.com"])
        }
        application.start()
        let (activityDelegate, delegateHere) = (ActivityDelegate(), AppDelegate())
        application.delegate = delegateHere
        let folder = try TemporaryDirectory()
        let url = URL(filePath: try folder.write("milk", to: "note.txt"))
        try await laptop.run(as: application) {
            let activity = UserActivity(activityType: "com.example.notes.edit")
            activity.title = "Shopping"
            activity.userInfo = ["note": 7]
            activity.requiredUserInfoKeys = ["note"]
            activity.webpageURL = URL(string: "https://notes.example.com/7")
            activity.referrerURL = URL(string: "https://notes.example.com/")
            activity.targetContentIdentifier = "note-7"
            activity.persistentIdentifier = "7"
            activity.keywords = ["milk"]
            activity.expirationDate = Date(timeIntervalSinceNow: 3600)
            activity.isEligibleForHandoff = true
            activity.isEligibleForSearch = true
            activity.supportsContinuationStreams = true
            activity.delegate = activityDelegate
            activity.documentURL = url
            activity.becomeCurrent()
            activity.needsSave = true

            let note = Note()
            try activity.setTypedPayload(note)
            let same = try activity.typedPayload(Note.self)
            #expect(same == note)

            let there = desktop.application(
                id: "com.example.Notes", activityTypes: ["com.example.notes.edit"], team: "com.example")
            let appDelegate = AppDelegate()
            there.delegate = appDelegate
            await laptop.settle()
            try await desktop.continueActivity()
            #expect(appDelegate.controller.text == "Milk" && activityDelegate.devices == ["Desktop"])
            #expect(delegateHere.updates > 0 && appDelegate.updates == 0)

            let document = DocumentActivity(url: url, contentType: "text/plain")
            #expect(document.userActivity?.activityType == "com.example.notes.text")
            document.close()

            let page = UserActivity(activityType: UserActivity.browsingWeb)
            page.webpageURL = URL(string: "https://notes.example.com/7")

            activity.leaveCurrent()
            activity.resignCurrent()
            activity.invalidate()
        }
    }

    private static func takeSocket(of stream: ContinuationStream) throws {
        let descriptor = try stream.takeDescriptor()
        #expect(fcntl(descriptor, F_GETFD) >= 0)
        close(descriptor)
    }

    @Test("streams: what the article shows does what it says")
    func streams() async throws {
        let (laptop, desktop) = TestBroker.pair()
        let here = laptop.application(id: "com.example.Notes", activityTypes: ["com.example.notes.edit"])
        let there = desktop.application(id: "com.example.Notes", activityTypes: ["com.example.notes.edit"])
        let activity = UserActivity(application: here)
        activity.supportsContinuationStreams = true
        let delegate = ActivityDelegate()
        activity.delegate = delegate
        activity.becomeCurrent()
        await laptop.settle()
        there.onContinue { activity, _ in
            let stream = try await activity.continuationStream()
            try await stream.write(Data("Milk".utf8))
            try await stream.finish()

            try Self.takeSocket(of: try await activity.continuationStream())
            return true
        }
        try await desktop.continueActivity()
        #expect(delegate.received == Data("Milk".utf8))
    }
}

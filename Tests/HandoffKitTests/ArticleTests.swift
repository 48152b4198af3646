// SPDX-License-Identifier: LGPL-2.1-or-later
import FoundationEssentials
import HandoffKit
import HandoffTesting
import Testing

/// The examples of README.md and of the articles in Sources/HandoffKit/HandoffKit.docc, which
/// meson-helpers/check-documents looks for here, line by line.
@MainActor @Suite("The articles' examples")
struct ArticleTests {
    struct Note: Codable, Equatable {
        var title = "Shopping"
        var text = "Milk"
    }

    let broker = TestBroker()

    /// Runs `example` with a broker, and with an application of another device to continue in.
    func run(_ example: @MainActor () async throws -> Void) async throws {
        try await broker.use { try await example() }
    }

    @Test("the ten lines hand off, and continue")
    func tenLines() async throws {
        let (laptop, desktop) = TestBroker.pair()
        var note = Note()
        var shown: [String] = []
        func show(_ note: Note, note text: String) { shown.append("\(note.text) \(text)") }
        @MainActor func application() -> (HandoffApplication, UserActivity) {
            let notes = HandoffApplication(id: "org.example.Notes", activityTypes: ["org.example.notes.edit"])
            notes.onContinue { activity, device in
                show(try activity.typedPayload(Note.self), note: "from \(device.name)")
                return true
            }
            notes.start()

            let editing = UserActivity(activityType: "org.example.notes.edit", title: note.title)
            editing.onWillSave { try $0.setTypedPayload(note) }
            editing.becomeCurrent()
            editing.needsSave = true  // whenever the note has changed
            return (notes, editing)
        }
        let other = desktop.use { application() }
        note.text = "Milk and bread"
        let one = laptop.use { application() }
        await laptop.settle()
        try await desktop.continueActivity()
        #expect(shown == ["Milk and bread from Laptop"])
        _ = (one, other)
    }

    @Test("Adopting: what the article shows")
    func adopting() async throws {
        try await run {
            let application = HandoffApplication(
                id: "org.example.Notes", activityTypes: ["org.example.notes.edit", "org.example.notes.list"],
                team: "org.example")
            application.start()

            let activity = UserActivity(activityType: "org.example.notes.edit", title: "Shopping list")
            activity.userInfo = ["note": 7, "cursor": 12]
            activity.becomeCurrent()

            activity.onFailure { activity, error in
                print("\(error.properties) of “\(activity.title)”: \(error.message)")
            }
            try activity.set(\.webpageURL, to: URL(string: "https://notes.example.org/7"))

            await broker.settle()
            #expect(HandoffApplication.shared != nil && broker.currentActivity?.title == "Shopping list")
        }
    }

    @Test("Adopting: an application is tested with a broker in memory")
    func testing() async throws {
        let (laptop, desktop) = TestBroker.pair()
        let here = laptop.application(id: "org.example.Notes", activityTypes: ["org.example.notes.edit"])
        let there = desktop.application(id: "org.example.Notes", activityTypes: ["org.example.notes.edit"])
        let activity = UserActivity(title: "Shopping list", application: here)
        activity.userInfo = ["note": 7]
        activity.becomeCurrent()

        var continued: Int?
        there.onContinue { activity, _ in
            continued = activity.userInfo["note", as: Int.self]
            return true
        }
        await laptop.settle()
        try await desktop.continueActivity()
        #expect(continued == 7)
    }

    final class NoteView: UserActivityResponder {
        let activityAssociation = ActivityAssociation()
        var text = "Milk"
        var line = 0

        func textChanged(to new: String) {
            text = new
            userActivity?.needsSave = true
        }

        func updateUserActivityState(_ activity: UserActivity) {
            activity.userInfo["text"] = .string(text)
            activity.userInfo["line", as: Int.self] = line
        }

        func restoreUserActivityState(_ activity: UserActivity) {
            text = activity.userInfo["text", as: String.self] ?? ""
            line = activity.userInfo["line", as: Int.self] ?? 0
        }
    }

    @Test("Saving: what the article shows")
    func saving() async throws {
        try await run {
            let application = broker.application(
                id: "org.example.Notes", activityTypes: ["org.example.notes.edit"])
            let note = Note()
            let activity = UserActivity(activityType: "org.example.notes.edit", application: application)
            activity.onWillSave { activity in
                activity.title = note.title
                try activity.setTypedPayload(note)
            }
            activity.becomeCurrent()
            activity.needsSave = true

            let view = NoteView()
            view.userActivity = activity

            let selection = ClosureResponder(activity) { $0.userInfo["selection"] = [3, 9] }

            await broker.settle()
            let info = try #require(broker.currentActivity).userInfo
            #expect(info["selection"] == [3, 9] && info["line"] == 0 && info["title"] == "Shopping")
            _ = (view, selection)
        }
    }

    final class NotesDelegate: HandoffApplicationDelegate {
        let view = NoteView()
        var isWaiting = false
        var message = ""

        func application(
            _ application: HandoffApplication, willContinueActivityOfType activityType: String,
            from device: ContinuationDevice
        ) -> Bool {
            message = "Continuing from \(device.name)…"
            isWaiting = true
            return true
        }

        func application(
            _ application: HandoffApplication, continue activity: UserActivity,
            restorationHandler: @escaping HandoffApplication.RestorationHandler
        ) async throws -> Bool {
            isWaiting = false
            restorationHandler([view])
            view.userActivity = activity
            activity.becomeCurrent()
            return true
        }

        func application(
            _ application: HandoffApplication, didFailToContinueActivityOfType activityType: String,
            error: HandoffError
        ) {
            isWaiting = false
            message = error.message
        }
    }

    @Test("Continuing: what the article shows")
    func continuing() async throws {
        let (laptop, desktop) = TestBroker.pair()
        let here = laptop.application(id: "org.example.Notes", activityTypes: ["org.example.notes.edit"])
        let activity = UserActivity(application: here)
        activity.userInfo = ["text": "Milk", "line": 3]
        activity.becomeCurrent()
        await laptop.settle()
        try await desktop.use {
            let application = HandoffApplication(
                id: "org.example.Notes", activityTypes: ["org.example.notes.edit"])
            application.isReady = false
            application.start()
            // The windows are made, however long that takes.
            let delegate = NotesDelegate()
            application.delegate = delegate
            application.isReady = true

            await desktop.settle()
            try await desktop.continueActivity()
            #expect(delegate.view.line == 3 && delegate.message == "Continuing from Laptop…")
            await desktop.settle()
            #expect(desktop.currentActivity?.userInfo == ["text": "Milk", "line": 3])
        }
    }

    @Test("Streams: what the article shows")
    func streams() async throws {
        let (laptop, desktop) = TestBroker.pair()
        let here = laptop.application(id: "org.example.Notes", activityTypes: ["org.example.notes.list"])
        let there = desktop.application(id: "org.example.Notes", activityTypes: ["org.example.notes.list"])
        let allNotes = Data("Milk".utf8)
        let activity = UserActivity(title: "All notes", application: here)
        activity.supportsContinuationStreams = true
        activity.onStream { _, stream in
            Task {
                try await stream.write(allNotes)
                try await stream.finish()
            }
        }
        activity.becomeCurrent()
        await laptop.settle()

        var received = Data()
        there.onContinue { activity, _ in
            let stream = try await activity.continuationStream()
            for try await chunk in stream.bytes {
                received.append(chunk)
            }
            try await stream.finish()
            return true
        }
        try await desktop.continueActivity()
        #expect(received == allNotes)
    }

    /// A document as applications have them.
    final class Letter {
        let activity: DocumentActivity
        var line = 1
        init(at url: URL, of application: HandoffApplication) {
            activity = DocumentActivity(url: url, application: application)
        }
        func windowBecameActive() { activity.becomeCurrent() }
        func windowLostFocus() { activity.leaveCurrent() }
        func saved(as url: URL) { activity.url = url }
        func cursorMoved() { activity.noteChange() }
        func close() { activity.close() }
        func show(line: Int) { self.line = line }
    }

    @Test("Documents: what the article shows")
    func documents() async throws {
        let url = URL(filePath: "/tmp/letter.txt")
        try await run {
            let application = HandoffApplication(
                id: "org.example.Editor", documentTypes: ["text/plain": "org.example.editor.text"])
            application.start()
            let document = DocumentActivity(url: url)
            document.becomeCurrent()
            document.userActivity?.onWillSave { $0.userInfo = ["line": 12, "selection": [3, 9]] }

            application.onContinue { activity, device in
                guard let url = activity.documentURL else { return false }
                let letter = Letter(at: url, of: application)
                letter.show(line: activity.userInfo["line", as: Int.self] ?? 1)
                return true
            }
            await broker.settle()
            #expect(broker.currentActivity?.activityType == "org.example.editor.text")
            let letter = Letter(at: url, of: application)
            letter.windowBecameActive()
            letter.cursorMoved()
            letter.saved(as: URL(filePath: "/tmp/other.txt"))
            await broker.settle()
            #expect(broker.currentActivity?.title == "other.txt")
            letter.windowLostFocus()
            letter.close()
            await broker.settle()
            #expect(broker.activityCount == 1)
        }
    }

    @Test("Web: what the article shows")
    func web() async throws {
        let page = URL(string: "https://notes.example.org/7")
        try await run {
            let browser = HandoffApplication(
                id: "org.example.Browser", activityTypes: [UserActivity.browsingWeb],
                domains: ["notes.example.org"])
            browser.start()
            let activity = UserActivity(activityType: UserActivity.browsingWeb, title: "A note")
            activity.webpageURL = page
            activity.becomeCurrent()

            browser.onContinue { activity, device in
                guard activity.activityType == UserActivity.browsingWeb else { return false }
                print("\(activity.webpageURL?.absoluteString ?? "") from \(device.name)")
                return true
            }
            await broker.settle()
            #expect(broker.currentActivity?.activityType == UserActivity.browsingWeb)
        }
    }
}

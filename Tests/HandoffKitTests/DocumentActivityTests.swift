// SPDX-License-Identifier: LGPL-2.1-or-later
import FoundationEssentials
import HandoffKit
import HandoffTesting
import Observation
import Synchronization
import Testing

/// Rules R6 and F7.
@MainActor @Suite("Documents")
struct DocumentActivityTests {
    let broker = TestBroker()
    let editor: HandoffApplication
    let url = URL(filePath: "/tmp/letter.txt")

    init() {
        editor = broker.application(
            id: "org.example.Editor", activityTypes: ["org.example.editor.other"],
            documentTypes: [
                "text/plain": "org.example.editor.text", "image/x-strange": "org.example.editor.image",
            ])
    }

    @Test("a document object with a URL has its activity by itself")
    func byItself() async throws {
        let document = DocumentActivity(url: url, application: editor)
        document.becomeCurrent()
        await broker.settle()
        let known = try #require(broker.currentActivity)
        #expect(known.title == "letter.txt" && known.activityType == "org.example.editor.text")
        #expect(known.properties.contains("DocumentURL"))
        #expect(document.userActivity?.documentURL == url)
    }

    @Test("a document whose type is named has the activity type that belongs to it")
    func namedType() async {
        let document = DocumentActivity(
            url: URL(filePath: "/tmp/picture"), contentType: "image/x-strange", application: editor)
        document.becomeCurrent()
        await broker.settle()
        #expect(broker.currentActivity?.activityType == "org.example.editor.image")
    }

    @Test("an activity for a document is invalidated when the document closes")
    func closing() async throws {
        let document = DocumentActivity(url: url, application: editor)
        document.becomeCurrent()
        await broker.settle()
        let activity = try #require(document.userActivity)
        #expect(activity.isCurrent)
        document.close()
        await broker.settle()
        #expect(!activity.isValid && document.userActivity == nil && !document.isOpen)
        #expect(broker.activityCount == 0)
    }

    @Test("a document that nobody holds any more takes its activity along")
    func freed() async {
        var document: DocumentActivity? = DocumentActivity(url: url, application: editor)
        document?.becomeCurrent()
        await broker.settle()
        #expect(broker.activityCount == 1)
        document = nil
        await broker.settle()
        #expect(broker.activityCount == 0)
    }

    @Test("a document can be used from any thread")
    func anyThread() async {
        let document = DocumentActivity(url: url, application: editor)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask { @concurrent in
                    document.url = URL(filePath: "/tmp/letter-\(number).txt")
                    document.title = "Letter \(number)"
                    document.noteChange()
                    if number % 2 == 0 { document.becomeCurrent() } else { document.resignCurrent() }
                    _ = document.url
                }
            }
        }
        document.title = "Last"
        document.becomeCurrent()
        await broker.settle()
        #expect(broker.currentActivity?.title == "Last")
        await Task { @concurrent in document.close() }.value
        await broker.settle()
        #expect(broker.activityCount == 0)
    }

    @Test("a document can be observed")
    func observing() async {
        let document = DocumentActivity(url: url, application: editor)
        let changes = Mutex(0)
        withObservationTracking {
            _ = (document.url, document.isOpen)
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        document.title = "Other"
        #expect(changes.withLock { $0 } == 0)
        document.url = URL(filePath: "/tmp/other.txt")
        #expect(changes.withLock { $0 } == 1)
    }

    @Test("what a save has called a document stays until the document is called otherwise")
    func savedTitle() async throws {
        let document = DocumentActivity(url: url, application: editor)
        document.userActivity?.onWillSave { $0.title = "Chapter 3" }
        document.becomeCurrent()
        document.noteChange()
        await broker.settle()
        #expect(broker.currentActivity?.title == "Chapter 3")
        document.noteChange()
        #expect(document.userActivity?.title == "Chapter 3")
        document.userActivity?.onWillSave { _ in }
        document.title = "Draft"
        await broker.settle()
        #expect(broker.currentActivity?.title == "Draft")
    }

    @Test("the activity of a document that was ended is not to be had any more")
    func ended() async throws {
        let document = DocumentActivity(url: url, application: editor)
        let activity = try #require(document.userActivity)
        activity.invalidate()
        #expect(document.userActivity == nil)
    }

    @Test("responders that come and go do not end the activity of an open document")
    func responders() async throws {
        let document = DocumentActivity(url: url, application: editor)
        document.becomeCurrent()
        await broker.settle()
        let activity = try #require(document.userActivity)
        var window: SavingTests.Editor? = SavingTests.Editor("line")
        window?.userActivity = activity
        window = nil
        await broker.settle()
        #expect(activity.isValid && broker.activityCount == 1)
    }
}

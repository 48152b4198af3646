// SPDX-License-Identifier: LGPL-2.1-or-later
import FoundationEssentials
import HandoffKit
import HandoffTesting
import Observation
import Testing

/// Rule H2, as the library keeps it.
@MainActor @Suite("What the broker refuses")
struct RefusalTests {
    let broker = TestBroker()
    let notes: HandoffApplication
    let activity: UserActivity

    init() async {
        notes = broker.application(id: "org.example.Notes", activityTypes: [edit])
        activity = UserActivity(activityType: edit, title: "Note", application: notes)
        activity.userInfo = ["line": 1]
        activity.becomeCurrent()
        await broker.settle()
    }

    /// Activities that leave no room for another large state.
    private func fillQuota() async -> [UserActivity] {
        let fillers = (0..<36).map { _ in
            let filler = UserActivity(activityType: edit, application: notes)
            filler.userInfo = ["much": .data(Data(count: 130_000))]
            filler.targetContentIdentifier = String(repeating: "x", count: 100_000)
            filler.becomeCurrent()
            return filler
        }
        activity.becomeCurrent()
        // With so much under way beside other tests, nothing may happen for a while although something is still to come.
        for _ in 0..<1000 {
            await broker.settle()
            if broker.activityCount == fillers.count + 1, broker.currentActivity?.title == "Note" { break }
        }
        #expect(broker.activityCount == fillers.count + 1 && broker.currentActivity?.title == "Note")
        return fillers
    }

    private static let large: UserInfo = ["much": .data(Data(count: 130_000))]

    @Test(
        "after a refusal the activity has what the broker has, observers see it, and who hears of it is told which"
    )
    func restored() async {
        let fillers = await fillQuota()
        var errors: [HandoffError] = []
        activity.onFailure { errors.append($1) }
        activity.userInfo = Self.large
        activity.title = "Renamed"
        let counter = Counter()
        withObservationTracking {
            _ = activity.userInfo
        } onChange: {
            counter.count += 1
        }
        await broker.settle()
        #expect(activity.userInfo == ["line": 1] && counter.count == 1)
        #expect(activity.title == "Renamed")
        #expect(broker.currentActivity?.userInfo == ["line": 1] && broker.currentActivity?.title == "Renamed")
        #expect(errors.map(\.code) == [.limitsExceeded] && errors.map(\.properties) == [["userInfo"]])
        #expect(errors.first?.message.isEmpty == false)
        withExtendedLifetime(fillers) {}
    }

    @Test("what was set again before the refusal came is newer, and stays")
    func newer() async {
        let fillers = await fillQuota()
        activity.userInfo = Self.large
        await Task.yield()
        activity.userInfo = ["line": 2]
        await broker.settle()
        #expect(activity.userInfo == ["line": 2] && broker.currentActivity?.userInfo == ["line": 2])
        withExtendedLifetime(fillers) {}
    }

    @Test("a state that was saved and is refused leaves the former one to be handed off")
    func saved() async throws {
        let fillers = await fillQuota()
        activity.onWillSave {
            $0.userInfo = Self.large
            $0.title = "Large"
        }
        let state = try await broker.continueElsewhere()
        #expect(state.userInfo == ["line": 1] && state.title == "Note")
        withExtendedLifetime(fillers) {}
    }

    @Test("typed payloads go on where they were after a refusal")
    func payloads() async throws {
        struct Line: Codable { var line: Int }
        struct Text: Codable { var text: Data }
        let fillers = await fillQuota()
        activity.userInfo["kept"] = true
        try activity.setTypedPayload(Line(line: 1))
        await broker.settle()
        try activity.setTypedPayload(Text(text: Data(count: 130_000)))
        await broker.settle()
        #expect(activity.userInfo == ["kept": true, "line": 1])
        try activity.setTypedPayload(Text(text: Data(count: 1)))
        #expect(activity.userInfo["line"] == nil && activity.userInfo["kept"] == true)
        withExtendedLifetime(fillers) {}
    }

    @Test("what a rule refuses at once names the property, too")
    func local() {
        var properties: [[String]] = []
        activity.onFailure { properties.append($1.properties) }
        activity.webpageURL = URL(string: "ftp://example.org/")
        activity.userInfo = ["text": "\0"]
        #expect(properties == [["webpageURL"], ["userInfo"]])
    }

    @Test("codes are matched by switch and catch, and there may be more one day")
    func matching() {
        func name(_ code: HandoffError.Code) -> String {
            switch code {
            case .invalidURL: "URL"
            case .limitsExceeded, .userInfoTooLarge: "size"
            default: "other"
            }
        }
        #expect(name(.invalidURL) == "URL" && name(.userInfoTooLarge) == "size" && name(.disabled) == "other")
        #expect("\(HandoffError.Code.invalidURL)" == "invalidURL")
        do {
            try activity.set(\.webpageURL, to: URL(string: "ftp://example.org/"))
            Issue.record("it was not refused")
        } catch HandoffError.Code.disabled {
            Issue.record("this is another error")
        } catch HandoffError.Code.invalidURL {
            // As it should be.
        } catch {
            Issue.record(error)
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("What a peer sends when it is asked for an activity")
struct FetchedActivityTests {
    private static let required: [String: Value] = [
        "ActivityType": .string("com.example.notes.edit"), "ApplicationId": .string("com.example.notes"),
        "Team": .string("com.example"), "Revision": .uint64(3),
    ]

    private static func fetched(_ values: [String: Value] = [:]) -> [String: Value] {
        required.merging(values) { $1 }
    }

    @Test("the application gets the activity, without what is the origin's own")
    func activity() throws {
        let own: [String: Value] = [
            "Delegate": .objectPath("/a"), "NeedsSave": .boolean(true), "Current": .boolean(true),
            "SaveTime": .int64(5), "Colour": .byte(1),
        ]
        let shared: [String: Value] = [
            "Title": .string("Shopping"), "UserInfo": .properties(["a": .int32(1)]),
            "Keywords": .strings(["milk"]), "WebpageURL": .string("https://example.com/"),
        ]
        let offer = try Sample.offer()
        let (activity, summary, _) = try FetchedActivity.check(
            Self.fetched(own.merging(shared) { $1 }), offer)
        var expected = shared
        expected["ActivityType"] = .string("com.example.notes.edit")
        expected["ApplicationId"] = .string("com.example.notes")
        #expect(activity == expected)
        #expect(summary.offer.id == offer.id && summary.offer.since == offer.since)
        #expect(summary.offer.title == "Shopping" && summary.offer.revision == 3)
        #expect(summary.offer.webpageHost == "example.com" && summary.document == .none)
    }

    @Test("an empty UserInfo is none")
    func empty() throws {
        let fetched = Self.fetched(["UserInfo": .properties([:])])
        #expect(try FetchedActivity.check(fetched, Sample.offer()).activity["UserInfo"] == nil)
    }

    @Test("a document is the origin's until it is brought over")
    func document() throws {
        let fetched = Self.fetched([
            "DocumentURL": .string("file:///etc/passwd"), "DocumentType": .string("text/plain"),
        ])
        let (activity, summary, _) = try FetchedActivity.check(fetched, Sample.offer())
        #expect(activity["DocumentURL"] == nil && summary.document == .remote)
        #expect(summary.offer.documentType == "text/plain")
    }

    @Test("the host that counts is that of the page, not what the peer calls it")
    func host() throws {
        let fetched = Self.fetched([
            "WebpageURL": .string("https://evil.example.net/"), "WebpageHost": .string("example.com"),
        ])
        #expect(
            try FetchedActivity.check(fetched, Sample.offer()).summary.offer.webpageHost == "evil.example.net"
        )
    }

    @Test(
        "every rule for activities holds for what comes from a peer",
        arguments: [
            (["ActivityType": .string("")], .invalidArguments),
            (["ApplicationId": .byte(1)], .invalidArguments),
            (["Title": .byte(1)], .invalidArguments),
            (["UserInfo": .properties(["a": .objectPath(.root)])], .invalidArguments),
            (["UserInfo": .strings([])], .invalidArguments),
            (
                ["UserInfo": .properties(["a": .bytes([UInt8](repeating: 0, count: 131_072))])],
                .userInfoTooLarge
            ),
            (["WebpageURL": .string("javascript:alert(1)")], .invalidURL),
            (["ReferrerURL": .string("file:///a")], .invalidURL),
            (["DocumentURL": .string("https://example.com/a")], .invalidURL),
            (["Title": .string(String(repeating: "x", count: 4097))], .limitsExceeded),
            (["PersistentIdentifier": .string(String(repeating: "x", count: 262_144))], .limitsExceeded),
            (["Revision": .int64(1)], .invalidArguments),
        ] as [([String: Value], HandoffFailure.Code)])
    func refused(_ values: [String: Value], _ code: HandoffFailure.Code) throws {
        let offer = try Sample.offer()
        #expect(failure { _ = try FetchedActivity.check(Self.fetched(values), offer) }?.code == code)
    }

    @Test("type and application are required", arguments: ["ActivityType", "ApplicationId"])
    func required(_ key: String) throws {
        let offer = try Sample.offer()
        let fetched = Self.required.filter { $0.key != key }
        #expect(failure { _ = try FetchedActivity.check(fetched, offer) }?.code == .invalidArguments)
    }

    @Test("how long the origin took to save is what it says, 0 if it does not")
    func saveTime() {
        #expect(FetchedActivity.saveTime(["SaveTime": .int64(7)]) == 7)
        #expect(FetchedActivity.saveTime(["SaveTime": .string("7")]) == 0)
        #expect(FetchedActivity.saveTime([:]) == 0)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("The summary of an offer")
struct OfferSummaryTests {
    @Test("an offer is the same again")
    func roundTrip() throws {
        let offers = [
            try Sample.offer(), try Sample.offer(title: ""),
            try Sample.offer(host: "example.com", document: "text/plain", streams: true, revision: .max),
        ]
        for offer in offers {
            #expect(try OfferSummary.decode(offer.id, OfferSummary.encode(offer), now: 0) == offer)
        }
    }

    @Test("when it was last used is told if that was not when it became current, and otherwise the same")
    func lastUsed() throws {
        let offer = try Sample.offer()
        #expect(OfferSummary.encode(offer)["Used"] == nil)
        var summary = OfferSummary.encode(offer)
        for (used, expected) in [(offer.since + 5, offer.since + 5), (offer.since - 5, offer.since)] {
            summary["Used"] = .int64(used)
            let decoded = try OfferSummary.decode(offer.id, summary, now: 0)
            #expect(decoded.lastUsed == expected && decoded.since == offer.since)
            #expect(try OfferSummary.decode(offer.id, OfferSummary.encode(decoded), now: 0) == decoded)
        }
    }

    @Test("what is not set is not told")
    func encoding() throws {
        let summary = OfferSummary.encode(try Sample.offer())
        #expect(summary["WebpageHost"] == nil && summary["DocumentType"] == nil && summary["UserInfo"] == nil)
    }

    @Test("type and application are enough; the team is the application's own, and it is current as of now")
    func shortest() throws {
        let summary: [String: Value] = [
            "ActivityType": .string("a.b"), "ApplicationId": .string("com.example.notes"),
            "Colour": .byte(1),
        ]
        let offer = try OfferSummary.decode(try Sample.activity(), summary, now: 7)
        #expect(offer.type.description == "a.b" && offer.team.description == "com.example.notes")
        #expect(offer.title.isEmpty && offer.since == 7 && offer.revision == 0)
        #expect(offer.webpageHost == nil && offer.documentType == nil && !offer.supportsContinuationStreams)
    }

    @Test(
        "a value of a wrong type is refused, naming its key",
        arguments: [
            "ActivityType", "Title", "ApplicationId", "Team", "SupportsContinuationStreams", "Revision",
            "Since", "Used",
            "WebpageHost", "DocumentType",
        ])
    func types(_ key: String) throws {
        var summary = OfferSummary.encode(try Sample.offer())
        summary[key] = .byte(1)
        let failure = failure { _ = try OfferSummary.decode(try Sample.activity(), summary, now: 0) }
        #expect(failure?.code == .invalidArguments)
        #expect(failure?.message.hasPrefix("\(key) must have the type ") == true)
    }

    @Test(
        "what is no type, application or team is refused, and so is the lack of one",
        arguments: [
            ("ActivityType", nil), ("ActivityType", ""), ("ActivityType", "a\u{202E}b"),
            ("ApplicationId", nil),
            ("ApplicationId", "../evil"), ("Team", ""), ("Team", ".a"),
        ] as [(String, String?)])
    func names(_ key: String, _ text: String?) throws {
        var summary = OfferSummary.encode(try Sample.offer())
        summary[key] = text.map { .string($0) }
        let failure = failure { _ = try OfferSummary.decode(try Sample.activity(), summary, now: 0) }
        #expect(failure?.code == .invalidArguments)
    }

    @Test("text that a peer wrote cannot steer what shows it")
    func text() throws {
        var summary = OfferSummary.encode(try Sample.offer())
        summary["Title"] = .string("a\u{1B}[31m\u{202E}" + String(repeating: "x", count: 500))
        let title = try OfferSummary.decode(try Sample.activity(), summary, now: 0).title
        #expect(title.count == PeerText.maximumTitle && title.hasPrefix("a\u{FFFD}[31m\u{FFFD}x"))
    }

    @Test("4 KiB pass, one byte more does not")
    func size() throws {
        var summary = OfferSummary.encode(try Sample.offer(title: ""))
        // The last of all, so that nothing after it is padded.
        summary["z"] = .bytes([])
        let most = OfferSummary.maximumSize - MarshalledSize.ofBody(summary)
        summary["z"] = .bytes([UInt8](repeating: 0, count: most))
        #expect(MarshalledSize.ofBody(summary) == OfferSummary.maximumSize)
        _ = try OfferSummary.decode(try Sample.activity(), summary, now: 0)
        summary["z"] = .bytes([UInt8](repeating: 0, count: most + 1))
        let failure = failure { _ = try OfferSummary.decode(try Sample.activity(), summary, now: 0) }
        #expect(failure?.code == .limitsExceeded)
    }
}

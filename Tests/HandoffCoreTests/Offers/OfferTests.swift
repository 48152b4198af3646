// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Offers")
struct OfferTests {
    @Test("what was fetched agrees with an offer even if its title, streams, revision or date have changed")
    func agreement() throws {
        let offer = try Example.offer(host: "example.com", document: "text/plain")
        let later = try Example.offer(
            title: "Other", host: "example.com", document: "text/plain", streams: true, revision: 9, since: 5)
        #expect(offer.agrees(with: later))
    }

    @Test("another activity, type, application, team, host or document type does not agree")
    func disagreement() throws {
        let offer = try Example.offer(host: "example.com", document: "text/plain")
        let others = [
            try Example.offer(2, host: "example.com", document: "text/plain"),
            try Example.offer(type: "view", host: "example.com", document: "text/plain"),
            try Example.offer(application: "other", host: "example.com", document: "text/plain"),
            try Example.offer(team: "com.other", host: "example.com", document: "text/plain"),
            try Example.offer(host: "example.org", document: "text/plain"),
            try Example.offer(document: "text/plain"),
            try Example.offer(host: "example.com", document: "text/html"),
            try Example.offer(host: "example.com"),
        ]
        for other in others { #expect(!offer.agrees(with: other)) }
    }

    @Test("the texts of an offer are fit to be shown, and empty ones mean none")
    func text() throws {
        let offer = try Example.offer(
            title: "a\u{202E}b" + String(repeating: "c", count: 300), host: "", document: "")
        #expect(offer.title.hasPrefix("a\u{FFFD}b"))
        #expect(offer.title.count == 256)
        #expect(offer.webpageHost == nil && offer.documentType == nil)
    }

    @Test("the texts of an offer have room in a summary of 4 KiB, whatever they are")
    func size() throws {
        let long = String(repeating: "🙂", count: 5000)
        let offer = try Example.offer(title: long, host: long, document: long)
        let texts = [offer.title, offer.webpageHost ?? "", offer.documentType ?? ""]
        #expect(texts.reduce(0) { $0 + $1.utf8.count } <= 1024 + 2 * 255)
    }

    @Test("the message of a failure that somebody else wrote is cut and cleaned")
    func foreignMessages() {
        let failure = HandoffFailure(
            .applicationFailed, foreignMessage: "\u{7}" + String(repeating: "x", count: 999))
        #expect(failure.message.count == 256)
        #expect(failure.message.hasPrefix("\u{FFFD}x"))
    }
}

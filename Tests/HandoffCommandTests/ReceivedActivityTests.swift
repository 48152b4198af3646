// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Testing

@testable import HandoffCommand

@Suite("What is printed about a received activity")
struct ReceivedActivityTests {
    @Test(
        "a document is told as a URL and as a path",
        arguments: [
            ("file:///home/me/a%20b.txt", "/home/me/a b.txt"), ("file:///a%2520b", "/a%20b"),
            ("https://example.com/a", nil), ("", nil), ("file://", nil),
        ] as [(String, String?)])
    func document(_ url: String, _ path: String?) {
        let received = ReceivedActivity(["DocumentURL": .string(url)], [:])
        #expect(received.documentPath == path)
        let text = received.json.text
        #expect(text.contains("\"documentURL\":"))
        #expect(text.contains("\"documentPath\":") == (path != nil))
    }

    @Test("without a document there is no path")
    func none() { #expect(!ReceivedActivity([:], [:]).json.text.contains("document")) }
}

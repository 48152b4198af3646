// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import PhoneAdapter

@Suite("telephones that others reach")
struct PhoneAdapterTests {
    @Test("have an id of letters, digits, _ and -, and a name without what could steer anything")
    func phones() {
        let phone = FoundPhone(
            id: "a_1", name: "Anna’s\u{1B} <b>phone</b>\n", path: "/modules/kdeconnect/devices/a_1")
        #expect(phone?.name.unicodeScalars.contains("\u{1B}") == false && phone?.name.contains("\n") == false)
        for id in ["", "a/b", "a b", "é", "..", String(repeating: "a", count: 129)] {
            #expect(FoundPhone(id: id, name: "Phone", path: "/a") == nil, "\(id)")
        }
        #expect(FoundPhone(id: "a-b", name: "Phone", path: "/devices/a-b") == nil)
        #expect(
            FoundPhone(id: "a", name: "\n", path: "/a") == nil
                || FoundPhone(id: "a", name: "", path: "/a") == nil)
    }

    @Test("are sent pages of the web, and nothing that could be taken for a file")
    func pages() {
        #expect(PhonePage.isPage("https://example.org/a?b=c") && PhonePage.isPage("HTTP://example.org"))
        for url in [
            "", "file:///etc/passwd", "File:///x", "/etc/passwd", "https:/x", "https:x",
            " https://example.org",
            "javascript:alert(1)", "https://exa mple.org", "https://example.org/\n", "content://x", "tel:+49",
            "resource:///x", "https://example.org/" + String(repeating: "a", count: 9000),
        ] { #expect(!PhonePage.isPage(url), "\(url)") }
    }
}

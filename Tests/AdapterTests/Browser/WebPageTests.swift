// SPDX-License-Identifier: LGPL-2.1-or-later
import AdapterSupport
import DBus
import HandoffCore
import Platform
import Testing

@testable import BrowserAdapter

@Suite("Pages in front of a browser")
struct WebPageTests {
    @Test(
        "http and https pages may go on elsewhere",
        arguments: [
            "http://example.com", "https://example.com/", "https://example.com:8443/a?b=c@d#e@f",
            "http://127.0.0.1:80/x",
            "http://[::1]/",
        ])
    func offerable(address: String) { #expect(WebPage.isOfferable(address)) }

    @Test(
        "other addresses, and those with user info, stay here",
        arguments: [
            "", "file:///etc/passwd", "about:blank", "chrome://version", "javascript:alert(1)",
            "data:text/html,x",
            "https://user@example.com/", "https://user:word@example.com/", "https://@example.com/",
            "http://a\\@b/",
            "https:example.com", "http://", "ftp://example.com/", "view-source:https://example.com",
            "//example.com/",
            "https://example.com/ x", "https://example.com/\n", "-https://example.com",
            "https://example.com/" + String(repeating: "x", count: 8192),
        ])
    func staying(address: String) { #expect(!WebPage.isOfferable(address)) }

    private func page(_ address: String, _ title: String = "T", tab: Int = 1) -> WebPage? {
        WebPage(["tab": .integer(tab), "url": .string(address), "title": .string(title)])
    }

    @Test("another page in the same tab is another activity, another place in it is not")
    func identity() throws {
        let one = try #require(page("https://example.com/a#x")?.activity)
        #expect(one.identity == page("https://example.com/a#y", "U")?.activity.identity)
        #expect(one.identity != page("https://example.com/b#x")?.activity.identity)
        #expect(one.identity != page("https://example.com/a#x", tab: 2)?.activity.identity)
        #expect(one.properties["WebpageURL"] == .string("https://example.com/a#x"))
    }

    @Test("a title is cut, and what could steer a terminal is replaced")
    func title() throws {
        let title = try #require(page("https://example.com/", String(repeating: "x", count: 900_000)))
        #expect(title.title.count == 256)
        #expect(page("https://example.com/", "a\u{1B}[2Jb")?.title == "a\u{FFFD}[2Jb")
    }

    @Test(
        "what is no page is none",
        arguments: [
            .null, [:], ["tab": "1", "url": "https://example.com/"],
            ["tab": .number(1.5), "url": "https://example.com/"],
            ["url": "https://example.com/"], ["tab": .integer(1), "url": [:]], "https://example.com/",
        ] as [JSONValue])
    func none(value: JSONValue) {
        #expect(WebPage(value) == nil)
        #expect(BrowserFront(["page": value, "focus": "yes"]).page == nil)
        #expect(!BrowserFront(["page": value, "focus": "yes"]).hasFocus)
    }

    @Test(
        "the browser is known by its program",
        arguments: [
            ("/usr/lib/chromium/chromium", "chromium"), ("/usr/lib/firefox-esr/firefox-esr", "firefox-esr"),
            ("/usr/lib/firefox/firefox-bin", "firefox"), ("/opt/google/chrome/chrome", "google-chrome"),
            ("/opt/brave.com/brave/brave", "brave-browser"), ("/opt/vivaldi/vivaldi-bin", "vivaldi-stable"),
            ("/opt/microsoft/msedge/msedge", "microsoft-edge"),
            ("/usr/lib/firefox-esr/firefox-esr (deleted)", "firefox-esr"),
        ])
    func identity(path: String, id: String) {
        #expect(BrowserIdentity.application(at: path)?.description == id)
    }

    @Test("the host is for our add-on alone")
    func addOn() {
        #expect(BrowserIdentity.isForAddOn(["/usr/lib/mozilla/x.json", Vendor.addOn]))
        #expect(BrowserIdentity.isForAddOn(["chrome-extension://amidmglofemifbpamfffgkcfpkefjmol/"]))
        for other in [[], ["other@example.org"], ["chrome-extension://amidmglofemifbpamfffgkcfpkefjmok/"]] {
            #expect(!BrowserIdentity.isForAddOn(other))
        }
    }
}

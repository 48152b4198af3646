// SPDX-License-Identifier: LGPL-2.1-or-later
import AdapterSupport
import HandoffCore
import Testing

@testable import BrowserAdapter

@Suite("Pages that a browser was started with")
struct PendingPagesTests {
    private let browser: ApplicationID
    private let other: ApplicationID

    init() throws {
        browser = try ApplicationID("chromium")
        other = try ApplicationID("firefox")
    }

    @Test("each is taken once, the oldest first, and none after its time")
    func takenOnce() {
        var pages = PendingPages()
        #expect(pages.remaining(at: 0) == nil && pages.take(for: browser, at: 0).isEmpty)
        pages.add("https://example.com/1", PagePlace(nil), for: [browser], until: 10)
        pages.add("https://example.com/2", PagePlace(nil), for: [browser], until: 30)
        pages.add("https://example.com/3", PagePlace(nil), for: [browser], until: 20)
        #expect(pages.remaining(at: 5) == 25 && pages.remaining(at: 30) == nil)
        #expect(
            pages.take(for: browser, at: 10).map(\.address) == [
                "https://example.com/2", "https://example.com/3",
            ])
        #expect(pages.take(for: browser, at: 10).isEmpty && pages.remaining(at: 10) == nil)
    }

    @Test(
        "another browser takes none of them, and they stay for the one that was started, by each of its names"
    )
    func eachItsOwn() throws {
        var pages = PendingPages()
        let made = try ApplicationID("userapp-Chromium-X")
        pages.add("https://example.com/1", PagePlace(nil), for: [made, browser], until: 10)
        pages.add("https://example.com/2", PagePlace(nil), for: [other], until: 10)
        #expect(pages.take(for: try ApplicationID("epiphany"), at: 0).isEmpty)
        #expect(pages.take(for: browser, at: 0).map(\.address) == ["https://example.com/1"])
        #expect(pages.take(for: made, at: 0).isEmpty)
        #expect(pages.take(for: other, at: 0).map(\.address) == ["https://example.com/2"])
    }

    @Test("whatever somebody has taken who has ended can be taken anew, and nothing else")
    func takenAnew() {
        var pages = PendingPages()
        pages.add("https://example.com/", PagePlace(nil), for: [browser], until: 10)
        #expect(pages.take(for: browser, by: ":1.1", at: 0).count == 1 && pages.remaining(at: 0) == nil)
        pages.ended(":1.2")
        #expect(pages.take(for: browser, by: ":1.2", at: 0).isEmpty)
        pages.ended(":1.1")
        #expect(pages.remaining(at: 0) == 10 && pages.take(for: browser, by: ":1.2", at: 0).count == 1)
        pages.ended(":1.2")
        #expect(pages.take(for: browser, by: ":1.3", at: 10).isEmpty)
    }

    @Test("one that could not be opened is forgotten, and no other of the same address")
    func forgotten() {
        var pages = PendingPages()
        let first = pages.add("https://example.com/", PagePlace(nil), for: [browser], until: 10)
        let second = pages.add("https://example.com/", PagePlace(nil), for: [browser], until: 20)
        pages.remove(second)
        #expect(pages.take(for: browser, at: 0).map(\.number) == [first])
        pages.remove(first)
        #expect(pages.remaining(at: 0) == nil)
    }

    @Test("the window that a page is in front of is kept with it")
    func window() throws {
        let tabs: [JSONValue] = ["https://example.com/1", "https://example.com/2"].map {
            ["url": .string($0)]
        }
        let window = try #require(BrowsingWindow(["tabs": .array(tabs)]))
        var pages = PendingPages()
        pages.add(window.address, PagePlace(nil), in: window, for: [browser], until: 10)
        pages.add("https://example.com/3", PagePlace(nil), for: [browser], until: 10)
        #expect(pages.take(for: browser, at: 0).map(\.window) == [window, nil])
    }

    @Test("however many there are, the oldest make room")
    func bounded() {
        var pages = PendingPages()
        for number in 0..<1000 {
            pages.add("https://example.com/\(number)", PagePlace(nil), for: [browser], until: 10)
        }
        let addresses = pages.take(for: browser, at: 0).map(\.address)
        #expect(addresses.count == PendingPages.maximum && addresses.last == "https://example.com/999")
    }
}

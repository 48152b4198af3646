// SPDX-License-Identifier: LGPL-2.1-or-later
import AdapterSupport
import DBus
import HandoffCore
import TestSupport
import Testing

@testable import BrowserAdapter

private func tab(_ number: Int, pinned: Bool = false, front: Bool = false) -> JSONValue {
    [
        "url": .string("https://example.com/\(number)"), "title": .string("Page \(number)"),
        "pinned": .boolean(pinned), "front": .boolean(front),
    ]
}

@Suite("Tabs of a browser's window")
struct BrowsingWindowTests {
    private let told: JSONValue = [
        "tabs": [tab(1, pinned: true), tab(2, front: true), tab(3)]
    ]

    private func numbers(_ window: BrowsingWindow?) -> [String] {
        (window?.tabs ?? []).map { String($0.address.dropFirst("https://example.com/".count)) }
    }

    @Test("a window goes to the other device and arrives as it was, in its order")
    func roundTrip() throws {
        let window = try #require(BrowsingWindow(told))
        #expect(window.front == 1 && window.tabs.map(\.isPinned) == [true, false, false])
        #expect(numbers(window) == ["1", "2", "3"] && window.address == "https://example.com/2")
        #expect(BrowsingWindow(userInfo: window.userInfo) == window)
        #expect(window.json == told["tabs"])
    }

    @Test("it is one activity, whatever is in it, which says how many tabs there are and which is in front")
    func activity() throws {
        let one = try #require(BrowsingWindow(told)?.activity)
        let other = try #require(BrowsingWindow(["tabs": [tab(8), tab(9)]])?.activity)
        #expect(one.identity == other.identity && one.type == .browsingWindow)
        #expect(one.properties["Title"] == .string("Page 2 and 2 more tabs"))
        #expect(other.properties["Title"] == .string("Page 8 and 1 more tab"))
        #expect(one.properties["WebpageURL"] == .string("https://example.com/2"))
    }

    @Test(
        "what is no window of two tabs that may go on is none",
        arguments: [
            .null, [:], ["tabs": .null], ["tabs": "x"], ["tabs": []], ["tabs": [[], "x", .null]],
            ["tabs": [tab(1)]], ["tabs": [tab(1), ["url": "about:blank", "title": "x"]]],
            ["tabs": [tab(1), ["url": .integer(5)]]],
        ] as [JSONValue])
    func none(value: JSONValue) { #expect(BrowsingWindow(value) == nil) }

    @Test(
        "a tab that may not be opened is left out, and another one is in front if that was",
        arguments: [
            "", "file:///etc/passwd", "javascript:alert(1)", "https://user@example.com/", "http://a\\@b/",
            "moz-extension://x/waiting.html", "https://example.com/" + String(repeating: "x", count: 2048),
        ])
    func staying(address: String) throws {
        let bad: JSONValue = ["url": .string(address), "title": "Bad", "front": .boolean(true)]
        let window = try #require(BrowsingWindow(["tabs": [tab(1), bad, tab(2)]]))
        #expect(numbers(window) == ["1", "2"] && window.front == 0)
        let list: [[String: Value]] = [
            ["Url": .string(address), "Front": .boolean(true)], ["Url": .string("http://example.com/")],
        ]
        let sent = try Value.array(of: "a{sv}", list.map { .properties($0) })
        let received = try #require(BrowsingWindow(userInfo: ["Tabs": sent]))
        #expect(received.tabs.map(\.address) == ["http://example.com/"] && received.front == 0)
        #expect(received.tabs[0].title.isEmpty && !received.tabs[0].isPinned)
    }

    @Test("a peer that sends no window is not believed")
    func peer() throws {
        let numbers = try Value.array(of: "i", [.int32(1)])
        let variants = try Value.array(of: "v", [.variant(.string("https://example.com/"))])
        let odd = try Value.array(
            of: "a{sv}", [.properties(["Url": .int32(1), "Title": .boolean(true), "Pinned": .string("yes")])])
        for value in [.string("x"), numbers, variants, odd, .properties([:])] as [Value] {
            #expect(BrowsingWindow(userInfo: ["Tabs": value]) == nil)
        }
        #expect(BrowsingWindow(userInfo: [:]) == nil)
    }

    @Test(
        "of too many tabs those that are nearest to the one in front stay, in their order",
        arguments: 0..<40)
    func bounded(seed: UInt64) throws {
        var random = Seeded(seed)
        let (count, length) = (2 + random.below(400), random.below(2000))
        let front = random.below(count)
        let path = String(repeating: "x", count: length + 1) + "/"
        var all: [JSONValue] = []
        for number in 0..<count {
            // Only the first that says so is in front.
            let isFront = number == front || number > front && random.below(50) == 0
            all.append([
                "url": .string("https://example.com/\(path)\(number)"), "title": "Übung",
                "front": .boolean(isFront),
            ])
        }
        let window = try #require(BrowsingWindow(["tabs": .array(all)]))
        let kept = window.tabs.compactMap { Int($0.address.split(separator: "/").last ?? "") }
        let (first, last) = (try #require(kept.first), try #require(kept.last))
        #expect(kept == Array(first...last))
        #expect(kept[window.front] == front && kept.count <= BrowsingWindow.maximumTabs)
        #expect(MarshalledSize.ofBody(window.activity.properties) < 64 << 10)
        #expect(kept.count == min(count, BrowsingWindow.maximumTabs) || length > 1000)
        let marked = (window.json.elements ?? []).filter { $0["front"] == .boolean(true) }
        #expect(marked.count == 1 && BrowsingWindow(userInfo: window.userInfo) == window)
        // None that was left out is nearer to the one in front than one that stays.
        let isBalanced = abs((front - first) - (last - front)) <= 1
        #expect(isBalanced || first == 0 || last == count - 1)
    }
}

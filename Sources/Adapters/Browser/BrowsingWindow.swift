// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import Platform

/// The tabs of a window of a browser, in their order, with what is to be opened of each. It comes from pages or from another
/// device, so nothing is taken over that could not be opened.
struct BrowsingWindow: Equatable, Sendable {
    /// One of the tabs.
    struct Tab: Equatable, Sendable {
        /// The address of its page, one that ``WebPage/isOfferable(_:)``.
        let address: String
        /// Its title, cut to what a title may have.
        let title: String
        /// Whether it is pinned.
        let isPinned: Bool
    }

    /// What there is, at least one.
    let tabs: [Tab]
    /// Which of them is in front.
    let front: Int

    /// How many tabs there may be.
    static let maximumTabs = 50
    /// How long an address may be, in bytes.
    static let maximumAddress = 2048
    /// How many bytes they may take together. With the rest of an activity, this is less than 64 KiB.
    static let maximumSize = 60 << 10

    /// The window that the message `value` of the add-on describes; nil unless it has two tabs that may be continued
    /// elsewhere.
    init?(_ value: JSONValue) {
        let found = value["tabs"]?.elements ?? []
        self.init(of: found.map { (Tab($0), $0["front"]?.boolean == true) })
        if tabs.count < 2 { return nil }
    }

    /// The window that the `UserInfo` of an activity describes; nil if there is nothing in it that may be opened.
    init?(userInfo: [String: Value]) {
        guard case .array(let array)? = userInfo["Tabs"] else { return nil }
        let found = array.elements.map { $0.properties ?? [:] }
        self.init(of: found.map { (Tab($0), $0["Front"] == .boolean(true)) })
    }

    /// Those of `found` that are tabs, each with whether it is said to be in front; the first that is counts. Of too many, those
    /// that are nearest to it stay.
    private init?(of found: [(Tab?, Bool)]) {
        var all: [Tab] = []
        var front: Int?
        for case (let tab?, let isFront) in found {
            if isFront, front == nil { front = all.count }
            all.append(tab)
        }
        guard !all.isEmpty else { return nil }
        let middle = front ?? 0
        var (first, end) = (0, all.count)
        var size = all.reduce(0) { $0 + $1.size }
        // What is in front is small enough by itself.
        while end - first > 1, end - first > Self.maximumTabs || size > Self.maximumSize {
            if end - 1 - middle >= middle - first {
                end -= 1
                size -= all[end].size
            } else {
                size -= all[first].size
                first += 1
            }
        }
        tabs = Array(all[first..<end])
        self.front = middle - first
    }

    /// The address of the page in front.
    var address: String { tabs[front].address }

    /// It for the add-on.
    var json: JSONValue {
        .array(
            tabs.enumerated().map { index, tab in
                [
                    "url": .string(tab.address), "title": .string(tab.title),
                    "pinned": .boolean(tab.isPinned), "front": .boolean(index == front),
                ]
            })
    }

    /// It as the `UserInfo` of an activity.
    var userInfo: [String: Value] {
        let list = tabs.enumerated().map { index, tab in
            Value.properties([
                "Url": .string(tab.address), "Title": .string(tab.title), "Pinned": .boolean(tab.isPinned),
                "Front": .boolean(index == front),
            ])
        }
        // The type fits, so this is never refused.
        return (try? Value.array(of: "a{sv}", list)).map { ["Tabs": $0] } ?? [:]
    }

    /// The window as an activity, the same one whatever is in the window.
    var activity: ShownActivity {
        let (page, others) = (tabs[front], tabs.count - 1)
        let title = trn(
            "{title} and {count} more tab", "{title} and {count} more tabs", count: others,
            ["title": page.title.isEmpty ? page.address : page.title])
        return ShownActivity(
            "window", type: .browsingWindow,
            properties: [
                "Title": .string(title), "WebpageURL": .string(page.address),
                "UserInfo": .properties(userInfo),
            ])
    }
}

extension BrowsingWindow.Tab {
    private init?(_ address: String?, _ title: String?, _ isPinned: Bool) {
        guard let address, address.utf8.count <= BrowsingWindow.maximumAddress, WebPage.isOfferable(address)
        else { return nil }
        (self.address, self.title, self.isPinned) = (address, PeerText.title(title ?? ""), isPinned)
    }

    /// The tab that `value` describes; nil if it is none that may be continued elsewhere.
    fileprivate init?(_ value: JSONValue) {
        self.init(value["url"]?.text, value["title"]?.text, value["pinned"]?.boolean == true)
    }

    /// The tab in the `UserInfo` of an activity; nil if it is none that may be opened.
    fileprivate init?(_ properties: [String: Value]) {
        self.init(
            properties["Url"]?.string, properties["Title"]?.string, properties["Pinned"] == .boolean(true))
    }

    /// No less than it takes in the `UserInfo` of an activity.
    fileprivate var size: Int { address.utf8.count + title.utf8.count + 128 }
}

extension HandedActivity {
    /// The window that it is; nil if it is a page, or if the page in front is not of the host that the user saw.
    var window: BrowsingWindow? {
        guard properties["ActivityType"]?.string == ActivityType.browsingWindow.description,
            let window = BrowsingWindow(userInfo: userInfo)
        else { return nil }
        let seen = WebAddress(webpage)?.host
        return seen == nil || seen == WebAddress(window.address)?.host ? window : nil
    }

    /// The address of its page.
    var webpage: String { properties["WebpageURL"]?.string ?? "" }
}

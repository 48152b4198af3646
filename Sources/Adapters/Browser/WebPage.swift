// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces

/// The page of a tab, as the add-on describes it.
struct WebPage: Equatable, Sendable {
    /// Which tab it is.
    let tab: Int64
    /// Its address, one that ``isOfferable(_:)``.
    let address: String
    /// Its title, cut to what a title may have.
    let title: String

    /// How long an address may be, in bytes.
    static let maximumAddress = 8192

    /// The page that `value` describes; nil if it is not one that may be continued elsewhere.
    init?(_ value: JSONValue?) {
        guard let value, let tab = value["tab"]?.integer, let address = value["url"]?.text,
            Self.isOfferable(address)
        else { return nil }
        (self.tab, self.address) = (tab, address)
        title = PeerText.title(value["title"]?.text ?? "")
    }

    /// Whether a page may be offered, or opened, by its address: `http` or `https`, with a host and without user info.
    static func isOfferable(_ address: String) -> Bool {
        address.utf8.count <= maximumAddress && WebAddress(address)?.hasUserInfo == false
    }

    /// `address` up to its fragment, which is only a place in the page.
    static func withoutFragment(_ address: String) -> Substring { address.prefix { $0 != "#" } }

    /// The page as an activity. Another page in the same tab is another activity.
    var activity: ShownActivity {
        ShownActivity(
            "\(tab) \(Self.withoutFragment(address))", type: .browsingWeb,
            properties: ["Title": .string(title), "WebpageURL": .string(address)])
    }
}

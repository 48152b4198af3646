// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport

/// What the user has in front in the browser.
struct BrowserFront: Equatable, Sendable {
    /// The page of the tab in front; nil if there is none that may be continued elsewhere.
    let page: WebPage?
    /// Whether the user is in the browser.
    let hasFocus: Bool

    /// What the message `value` says.
    init(_ value: JSONValue) {
        page = WebPage(value["page"])
        hasFocus = value["focus"]?.boolean ?? false
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient
internal import HandoffCore

/// One occasion on which another device fetched an activity from this one, opened a stream or the document
/// of it, or fetched what was in the clipboard, as the broker remembers it.
package struct RecentFetch: ListedEntry, Equatable, Sendable {
    /// When it happened, in microseconds since the Unix epoch.
    package let time: Int64
    /// `activity`, `stream`, `document` or `clipboard`.
    package let kind: String
    package let deviceID: String
    package let deviceName: String
    package let type: String
    package let applicationID: String
    package let title: String

    /// What of the clipboard was fetched; nil if it was something else.
    package var clipboard: ClipboardSummary? { kind == "clipboard" ? ClipboardSummary(fetched: title) : nil }

    /// The fetch that these properties describe.
    package init(_ properties: [String: Value]) {
        time = properties.time("Time")
        kind = properties.text("Kind")
        deviceID = properties.text("DeviceId")
        deviceName = properties.text("DeviceName")
        type = properties.text("ActivityType")
        applicationID = properties.text("ApplicationId")
        title = properties.text("Title")
    }
}

extension ClipboardSummary {
    /// What was fetched whose title is `title`: types, with commas between them.
    init(fetched title: String) {
        self.init(
            title.split(separator: ",").compactMap { ClipboardKind(rawValue: String($0.drop { $0 == " " })) })
    }
}

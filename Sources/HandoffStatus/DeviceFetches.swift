// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient
internal import HandoffCore

/// What one device has fetched from this session since the broker started, as the broker remembers it.
package struct DeviceFetches: ListedEntry, Equatable, Sendable {
    package let deviceID: String
    package let deviceName: String
    /// When it last fetched something, in microseconds since the Unix epoch.
    package let time: Int64
    /// The type of what it fetched last.
    package let type: String
    package let applicationID: String
    package let title: String
    /// How often it has fetched an activity, how many streams and documents it has opened, and how often it has fetched what was in
    /// the clipboard.
    package let fetches: UInt64
    package let streams: UInt64
    package let documents: UInt64
    package let clipboards: UInt64

    /// What of the clipboard it has fetched last; nil if that was something else.
    package var clipboard: ClipboardSummary? {
        type == RecentFetches.clipboardType ? ClipboardSummary(fetched: title) : nil
    }

    /// The entry that these properties describe.
    package init(_ properties: [String: Value]) {
        deviceID = properties.text("DeviceId")
        deviceName = properties.text("DeviceName")
        time = properties.time("Time")
        type = properties.text("ActivityType")
        applicationID = properties.text("ApplicationId")
        title = properties.text("Title")
        fetches = properties.count("Fetches")
        streams = properties.count("Streams")
        documents = properties.count("Documents")
        clipboards = properties.count("Clipboards")
    }
}

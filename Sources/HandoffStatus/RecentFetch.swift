// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient

/// One occasion on which another device fetched an activity from this one, opened a stream or the document of it,
/// or took what was in the clipboard, as the broker remembers it.
package struct RecentFetch: Equatable, Sendable {
    /// When it happened, in microseconds since the Unix epoch.
    package let time: Int64
    /// `activity`, `stream`, `document` or `clipboard`.
    package let kind: String
    package let deviceID: String
    package let deviceName: String
    package let type: String
    package let applicationID: String
    package let title: String

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

    /// The fetches in the property `RecentFetches`; none if there is no such property.
    package static func all(in value: Value?) -> [RecentFetch] {
        Value.propertyList(value).map { RecentFetch($0) }
    }
}

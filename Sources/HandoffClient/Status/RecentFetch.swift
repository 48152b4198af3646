// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore

/// One occasion on which another device fetched an activity from this one, or opened a stream or the document
/// of it, as the broker remembers it.
struct RecentFetch: Equatable {
    /// When it happened, in microseconds since the Unix epoch.
    let time: Int64
    /// `activity`, `stream` or `document`.
    let kind: String
    let deviceID: String
    let deviceName: String
    let type: String
    let applicationID: String
    let title: String

    /// The fetch that these properties describe.
    init(_ properties: [String: Value]) {
        time = properties.time("Time")
        kind = properties.text("Kind")
        deviceID = properties.text("DeviceId")
        deviceName = properties.text("DeviceName")
        type = properties.text("ActivityType")
        applicationID = properties.text("ApplicationId")
        title = properties.text("Title")
    }

    /// The fetches in the property `RecentFetches`; none if there is no such property.
    static func all(in value: Value?) -> [RecentFetch] {
        Value.propertyList(value).map { RecentFetch($0) }
    }

    var json: JSON {
        [
            "time": .integer(time), "kind": .string(kind), "deviceId": .string(deviceID),
            "deviceName": .string(deviceName), "type": .string(type), "applicationId": .string(applicationID),
            "title": .string(title),
        ]
    }
}

extension [RecentFetch] {
    /// A list with a heading; empty if nothing was fetched. What was fetched has not necessarily been
    /// continued.
    func lines(at now: Int64) -> [String] {
        if isEmpty { return [] }
        var table = Table("WHEN", "WHAT", "DEVICE", "TITLE", "TYPE")
        for fetch in self {
            let device =
                fetch.deviceName.isEmpty ? String(fetch.deviceID.prefix(ShortIDs.minimum)) : fetch.deviceName
            table.add(
                Age.text(of: fetch.time, at: now),
                ["stream", "document"].contains(fetch.kind) ? fetch.kind : "activity",
                ChosenText(name: device).shown,
                ChosenText(title: fetch.title.isEmpty ? fetch.applicationID : fetch.title).shown,
                ChosenText(title: fetch.type).shown)
        }
        return ["Fetched by other devices, the latest first:"] + table.lines.map { "  \($0)" }
    }
}

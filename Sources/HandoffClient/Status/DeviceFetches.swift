// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore

/// What one device has fetched from this session since the broker started, as the broker remembers it.
struct DeviceFetches: Equatable {
    let deviceID: String
    let deviceName: String
    /// When it last fetched something, in microseconds since the Unix epoch.
    let time: Int64
    /// The type of what it fetched last.
    let type: String
    let applicationID: String
    let title: String
    /// How often it has fetched an activity, and how many streams and documents it has opened.
    let fetches: UInt64
    let streams: UInt64
    let documents: UInt64

    /// The entry that these properties describe.
    init(_ properties: [String: Value]) {
        deviceID = properties.text("DeviceId")
        deviceName = properties.text("DeviceName")
        time = properties.time("Time")
        type = properties.text("ActivityType")
        applicationID = properties.text("ApplicationId")
        title = properties.text("Title")
        fetches = properties.count("Fetches")
        streams = properties.count("Streams")
        documents = properties.count("Documents")
    }

    /// The entries in the property `FetchesByDevice`; none if there is no such property.
    static func all(in value: Value?) -> [DeviceFetches] {
        Value.propertyList(value).map { DeviceFetches($0) }
    }

    var json: JSON {
        [
            "deviceId": .string(deviceID), "deviceName": .string(deviceName), "time": .integer(time),
            "type": .string(type), "applicationId": .string(applicationID), "title": .string(title),
            "fetches": .integer(fetches), "streams": .integer(streams),
            "documents": .integer(documents),
        ]
    }
}

extension [DeviceFetches] {
    /// A list with a heading; empty if nothing was fetched.
    func lines(at now: Int64) -> [String] {
        if isEmpty { return [] }
        var table = Table("DEVICE", "ACTIVITIES", "STREAMS", "DOCUMENTS", "LAST", "TITLE", "NAME")
        let ids = ShortIDs(map(\.deviceID))
        for device in self {
            table.add(
                ids.short(device.deviceID), "\(device.fetches)", "\(device.streams)", "\(device.documents)",
                Age.text(of: device.time, at: now),
                ChosenText(title: device.title.isEmpty ? device.applicationID : device.title).shown,
                ChosenText(name: device.deviceName).shown)
        }
        return ["Fetched by other devices since the broker began:"] + table.lines.map { "  \($0)" }
    }
}

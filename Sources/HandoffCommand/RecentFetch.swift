// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus

/// One time that another device has fetched an activity of this one, as the broker remembers it.
struct RecentFetch: Equatable {
    /// Microseconds since the Unix epoch.
    let time: Int64
    let deviceID: String
    let deviceName: String
    let type: String
    let applicationID: String
    let title: String

    /// What these properties say.
    init(_ properties: [String: Value]) {
        time = properties.time("Time")
        deviceID = properties.text("DeviceId")
        deviceName = properties.text("DeviceName")
        type = properties.text("ActivityType")
        applicationID = properties.text("ApplicationId")
        title = properties.text("Title")
    }

    /// Those of the property `RecentFetches`; none if there is no such property.
    static func all(in value: Value?) -> [RecentFetch] {
        guard case .array(let array)? = value else { return [] }
        return array.elements.compactMap { $0.properties }.map { RecentFetch($0) }
    }

    var json: JSON {
        [
            "time": .integer(time), "deviceId": .string(deviceID), "deviceName": .string(deviceName),
            "type": .string(type), "applicationId": .string(applicationID), "title": .string(title),
        ]
    }
}

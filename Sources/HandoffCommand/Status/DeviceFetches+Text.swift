// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStatus
internal import Platform

extension DeviceFetches {
    var json: JSON {
        [
            "deviceId": .string(deviceID), "deviceName": .string(deviceName), "time": .time(time),
            "activityType": .string(type), "applicationId": .string(applicationID), "title": .string(title),
            "fetchCount": .integer(fetches), "streamCount": .integer(streams),
            "documentCount": .integer(documents),
        ]
    }
}

extension [DeviceFetches] {
    /// A list with a heading; empty if nothing was fetched.
    func lines(at now: Int64) -> [String] {
        if isEmpty { return [] }
        var table = Table(
            Heading.device, Heading.activities, Heading.streams, Heading.documents, Heading.last,
            Heading.title,
            Heading.name, shrinking: [Heading.title, Heading.name])
        let ids = ShortIDs(map(\.deviceID))
        for device in self {
            table.add(
                ids.short(device.deviceID), "\(device.fetches)", "\(device.streams)", "\(device.documents)",
                Age.text(of: device.time, at: now),
                ChosenText(title: device.title.isEmpty ? device.applicationID : device.title).shown,
                ChosenText(name: device.deviceName).shown)
        }
        return [tr("Fetched by other devices since the broker began:")] + table.lines(indent: 2)
    }
}

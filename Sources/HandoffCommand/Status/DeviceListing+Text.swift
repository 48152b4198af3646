// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStatus
internal import Platform

extension DeviceListing {
    var json: JSON {
        [
            "deviceId": .string(deviceID), "deviceName": .string(deviceName), "time": .time(time),
            "titles": .strings(titles),
        ]
    }
}

extension [DeviceListing] {
    /// A list with a heading; empty if no device was told anything.
    func lines(at now: Int64) -> [String] {
        if isEmpty { return [] }
        var table = Table(
            Heading.device, Heading.activities, Heading.last, Heading.titles, Heading.name,
            shrinking: [Heading.titles, Heading.name])
        let ids = ShortIDs(map(\.deviceID))
        for device in self {
            table.add(
                ids.short(device.deviceID), "\(device.titles.count)", Age.text(of: device.time, at: now),
                device.titles.map { ChosenText(title: $0).inQuotes }.joined(separator: ", "),
                ChosenText(name: device.deviceName).shown)
        }
        return [tr("Told what is open here, since the broker started:")] + table.lines(indent: 2)
    }
}

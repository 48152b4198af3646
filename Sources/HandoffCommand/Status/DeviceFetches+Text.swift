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
            "documentCount": .integer(documents), "clipboardCount": .integer(clipboards),
        ]
    }

    /// What it has fetched last, in words.
    fileprivate var label: String {
        if let clipboard { return tr("clipboard: {content}", ["content": clipboard.text]) }
        return ChosenText(title: title.isEmpty ? applicationID : title).shown
    }
}

extension [DeviceFetches] {
    /// A list with a heading; empty if nothing was fetched.
    func lines(at now: Int64) -> [String] {
        if isEmpty { return [] }
        // A column that takes room away only where there is something in it.
        let hasClipboards = contains { $0.clipboards > 0 }
        var table = Table(
            [Heading.device, Heading.activities, Heading.streams, Heading.documents]
                + (hasClipboards ? [Heading.clipboards] : []) + [Heading.last, Heading.title, Heading.name],
            shrinking: [Heading.title, Heading.name])
        let ids = ShortIDs(map(\.deviceID))
        for device in self {
            let counts = [device.fetches, device.streams, device.documents]
            table.add(
                [ids.short(device.deviceID)]
                    + (counts + (hasClipboards ? [device.clipboards] : [])).map { "\($0)" }
                    + [
                        Age.text(of: device.time, at: now), device.label,
                        ChosenText(name: device.deviceName).shown,
                    ])
        }
        return [tr("Fetched by other devices since the broker started:")] + table.lines(indent: 2)
    }
}

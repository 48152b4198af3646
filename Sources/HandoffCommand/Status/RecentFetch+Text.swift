// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStatus
internal import Platform

extension RecentFetch {
    var json: JSON {
        [
            "time": .time(time), "kind": .string(kind), "deviceId": .string(deviceID),
            "deviceName": .string(deviceName), "activityType": .string(type),
            "applicationId": .string(applicationID),
            "title": .string(title),
        ]
    }
}

extension RecentFetch {
    /// What was fetched, in a word.
    fileprivate var what: String {
        switch kind {
        case "stream": tr("stream")
        case "document": tr("document")
        case "clipboard": tr("clipboard")
        default: tr("activity")
        }
    }

    /// What it is called.
    fileprivate var label: String {
        clipboard?.text ?? ChosenText(title: title.isEmpty ? applicationID : title).shown
    }
}

extension [RecentFetch] {
    /// A list with a heading; empty if nothing was fetched. What was fetched has not necessarily been
    /// continued.
    func lines(at now: Int64) -> [String] {
        if isEmpty { return [] }
        var table = Table(
            Heading.when, Heading.what, Heading.device, Heading.title, Heading.type,
            shrinking: [Heading.title, Heading.type])
        for fetch in self {
            table.add(
                Age.text(of: fetch.time, at: now),
                fetch.what,
                ChosenText.device(name: fetch.deviceName, id: fetch.deviceID).shown,
                fetch.label,
                ChosenText(title: fetch.type).shown)
        }
        return [tr("Fetched by other devices, the latest first:")] + table.lines(indent: 2)
    }
}

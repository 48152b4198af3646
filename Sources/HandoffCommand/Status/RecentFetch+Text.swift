// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStatus

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

extension [RecentFetch] {
    /// A list with a heading; empty if nothing was fetched. What was fetched has not necessarily been
    /// continued.
    func lines(at now: Int64) -> [String] {
        if isEmpty { return [] }
        var table = Table("WHEN", "WHAT", "DEVICE", "TITLE", "TYPE", shrinking: ["TITLE", "TYPE"])
        for fetch in self {
            table.add(
                Age.text(of: fetch.time, at: now),
                ["stream", "document"].contains(fetch.kind) ? fetch.kind : "activity",
                ChosenText.device(name: fetch.deviceName, id: fetch.deviceID).shown,
                ChosenText(title: fetch.title.isEmpty ? fetch.applicationID : fetch.title).shown,
                ChosenText(title: fetch.type).shown)
        }
        return ["Fetched by other devices, the latest first:"] + table.lines(indent: 2)
    }
}

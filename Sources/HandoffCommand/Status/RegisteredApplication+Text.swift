// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import HandoffCore
internal import HandoffStatus

extension RegisteredApplication {
    var json: JSON {
        [
            "connection": .string(connection), "applicationId": .string(applicationID),
            "team": .string(team), "activityTypes": .array(types.map { .string($0) }),
            "excluded": .boolean(isExcluded), "activities": .integer(activities),
            "standing": .string(state), "notOffered": .string(notOffered),
        ]
    }

    /// What it does at present.
    fileprivate var state: String {
        if isExcluded { return "excluded" }
        if isCurrent { return notOffered.isEmpty ? "current, offered" : "current, not offered" }
        return activities == 0 ? "no activity" : "not current"
    }
}

extension [RegisteredApplication] {
    /// A list with a heading; empty if nothing is registered.
    var lines: [String] {
        if isEmpty { return [] }
        var table = Table("APPLICATION", "STATE", "ACTIVITIES", "TYPES", shrinking: ["TYPES"])
        for one in self {
            table.add(
                one.applicationID.shown, one.state, "\(one.activities)",
                one.types.isEmpty
                    ? "none" : one.types.map { ChosenText(title: $0).shown }.joined(separator: " "))
        }
        return ["Registered applications:"] + table.lines(indent: 2)
    }
}

extension RecentRefusal {
    var json: JSON {
        [
            "time": .time(time), "connection": .string(connection), "processId": .integer(process),
            "applicationId": .string(applicationID), "member": .string(member), "errorName": .string(error),
            "message": .string(message),
        ]
    }
}

extension [RecentRefusal] {
    /// A list with a heading; empty if nothing was refused.
    func lines(at now: Int64) -> [String] {
        if isEmpty { return [] }
        return ["Refused, the latest first:"]
            + flatMap { one in
                let who =
                    one.applicationID.isEmpty ? "a program that is not registered" : one.applicationID.shown
                let process = one.process == 0 ? "" : ", process \(one.process)"
                return [
                    "  \(Age.text(of: one.time, at: now))  \(one.member.shown) of \(who)\(process):",
                    "    \(one.message.shown)",
                ]
            }
    }
}

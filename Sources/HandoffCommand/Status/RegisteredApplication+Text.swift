// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStatus
internal import Platform

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
        if isExcluded { return tr("excluded") }
        if isCurrent { return notOffered.isEmpty ? tr("current, offered") : tr("current, not offered") }
        return activities == 0 ? tr("no activity") : tr("not current")
    }
}

extension [RegisteredApplication] {
    /// A list with a heading; empty if nothing is registered.
    var lines: [String] {
        if isEmpty { return [] }
        var table = Table(
            Heading.application, Heading.state, Heading.activities, Heading.types,
            shrinking: [Heading.types])
        for one in self {
            table.add(
                one.applicationID.shown, one.state, "\(one.activities)",
                one.types.isEmpty
                    ? tr("none") : one.types.map { ChosenText(title: $0).shown }.joined(separator: " "))
        }
        return [tr("Registered applications:")] + table.lines(indent: 2)
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

extension RecentRefusal {
    /// What was refused to whom, before the reason.
    fileprivate var what: String {
        let program = applicationID.isEmpty ? tr("a program that is not registered") : applicationID.shown
        if process == 0 { return tr("{call} of {program}:", ["call": member.shown, "program": program]) }
        return tr(
            "{call} of {program}, process {process}:",
            ["call": member.shown, "program": program, "process": "\(process)"])
    }
}

extension [RecentRefusal] {
    /// A list with a heading; empty if nothing was refused.
    func lines(at now: Int64) -> [String] {
        if isEmpty { return [] }
        return [tr("Refused, the latest first:")]
            + flatMap { one in
                [
                    "  \(Age.text(of: one.time, at: now))  \(one.what)",
                    "    \(one.message.shown)",
                ]
            }
    }
}

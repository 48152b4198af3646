// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStatus
internal import Platform

extension HiddenOffer {
    var json: JSON {
        [
            "activityId": .string(id), "deviceId": .string(deviceID), "deviceName": .string(deviceName),
            "activityType": .string(type), "title": .string(title), "applicationId": .string(applicationID),
            "since": .time(since), "invited": .boolean(isInvited), "hidden": .boolean(true),
            "reason": .string(reason),
        ]
    }
}

extension [HiddenOffer] {
    /// A list with a heading: each offer, and below it why it is hidden. It is empty if there are no offers.
    func lines(at now: Int64) -> [String] {
        if isEmpty { return [] }
        var table = Table(
            Heading.device, Heading.title, Heading.type, Heading.application, Heading.since,
            shrinking: [Heading.device, Heading.title, Heading.type, Heading.application])
        for offer in self {
            table.add(
                offer.device.shown, offer.label.shown, ChosenText(title: offer.type).shown,
                ChosenText(title: offer.applicationID).shown, Age.text(of: offer.since, at: now))
        }
        let rows = table.lines(indent: 2)
        var lines = [tr("Hidden, because nothing here continues it:"), rows[0]]
        for (offer, row) in zip(self, rows.dropFirst()) {
            lines.append(row)
            if offer.isInvited { lines.append("    " + tr("It was sent to this device.")) }
            if !offer.reason.isEmpty { lines.append("    " + offer.reason.shown.sentence) }
        }
        return lines
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore

/// An offer of another device that is not listed, because nothing here continues it.
struct HiddenOffer: Equatable {
    /// 32 hexadecimal digits.
    let id: String
    let deviceID: String
    let deviceName: String
    let type: String
    let applicationID: String
    let title: String
    /// When it became current there, in microseconds since the Unix epoch.
    let since: Int64
    /// Why it is hidden and what to do about it, for people to read.
    let reason: String

    /// The offer that these properties describe.
    init(_ properties: [String: Value]) {
        id = properties.text("ActivityId")
        deviceID = properties.text("DeviceId")
        deviceName = properties.text("DeviceName")
        type = properties.text("ActivityType")
        applicationID = properties.text("ApplicationId")
        title = properties.text("Title")
        since = properties.time("Since")
        reason = properties.text("Reason")
    }

    /// The offers in the property `HiddenOffers`; none if there is no such property.
    static func all(in value: Value?) -> [HiddenOffer] {
        Value.propertyList(value).map { HiddenOffer($0) }
    }

    /// What to call its device.
    var device: ChosenText {
        ChosenText(name: deviceName.isEmpty ? String(deviceID.prefix(ShortIDs.minimum)) : deviceName)
    }

    /// What to call it.
    var label: ChosenText { ChosenText(title: title.isEmpty ? applicationID : title) }

    var json: JSON {
        [
            "id": .string(id), "deviceId": .string(deviceID), "deviceName": .string(deviceName),
            "type": .string(type), "applicationId": .string(applicationID), "title": .string(title),
            "since": .integer(since), "hidden": .boolean(true), "reason": .string(reason),
        ]
    }
}

extension [HiddenOffer] {
    /// A list with a heading: each offer, and below it why it is hidden. It is empty if there are no offers.
    func lines(at now: Int64) -> [String] {
        if isEmpty { return [] }
        var table = Table("DEVICE", "TITLE", "TYPE", "APPLICATION", "SINCE")
        for offer in self {
            table.add(
                offer.device.shown, offer.label.shown, ChosenText(title: offer.type).shown,
                ChosenText(title: offer.applicationID).shown, Age.text(of: offer.since, at: now))
        }
        let rows = table.lines
        var lines = ["Hidden, because nothing here continues it:", "  " + rows[0]]
        for (offer, row) in zip(self, rows.dropFirst()) {
            lines.append("  " + row)
            if !offer.reason.isEmpty { lines.append("    " + offer.reason.shown.sentence) }
        }
        return lines
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStatus
internal import Platform

extension KnownDevice {
    /// Where it is connected, or else where it may be.
    var whereabouts: String {
        connectedAddress.isEmpty || carrier != nil ? addresses.joined(separator: ",") : connectedAddress
    }

    /// Its pairing and its link, in words. Peers that have to do with that are called what they are among `devices`.
    func state(among devices: [KnownDevice]) -> String {
        var words: [String]
        if let told = introduction(among: devices) {
            words = [told] + (isConnected ? [link] : [])
        } else {
            words = [isPaired ? tr("paired") : tr("not paired"), link]
        }
        if !retractedBy.isEmpty {
            words.append(tr("unpaired by the user of {devices}", ["devices": devices.names(of: retractedBy)]))
        }
        switch pairingState {
        case "waiting": words.append(tr("pairing: waiting"))
        case "comparing", "confirmed": words.append(tr("pairing: code {code}", ["code": pairingCode]))
        default: break
        }
        if isMuted { words.append(tr("muted")) }
        return words.joined(separator: ", ")
    }

    /// What has become of its introduction, in words; nil if it is not introduced.
    private func introduction(among devices: [KnownDevice]) -> String? {
        if awaitsAcceptance { return tr("accepted here, not there yet") }
        guard isIntroduced || isDeclined else { return nil }
        let values = ["devices": devices.names(of: introducedBy)]
        return isDeclined
            ? tr("introduced by {devices}, declined here", values)
            : tr("introduced by {devices}, not accepted here", values)
    }

    /// Since when it is connected, or is not, in microseconds since the Unix epoch; 0 if that is not known.
    var since: Int64 {
        isConnected ? connectedSince : asleepSince != 0 ? asleepSince : disconnectedSince
    }

    /// Whether it is connected, and by which way if that is not the usual one.
    var link: String {
        guard isConnected else { return asleepSince == 0 ? tr("not connected") : tr("asleep") }
        if let carrier { return tr("connected by {carrier}", ["carrier": carrier.shown]) }
        return isOnOtherNetwork ? tr("connected over another network") : tr("connected")
    }

    /// Which device it is, and nothing more, with what a verb has just changed.
    func json(_ changes: [JSON.Member] = []) -> JSON {
        .object(
            [
                .init(name: "deviceId", value: .string(id)), .init(name: "deviceName", value: .string(name)),
            ] + changes)
    }

    var json: JSON {
        [
            "deviceId": .string(id), "deviceName": .string(name), "deviceType": .string(type),
            "addresses": .strings(addresses),
            "paired": .boolean(isPaired), "connected": .boolean(isConnected),
            "connectedSince": .time(connectedSince),
            "asleepSince": asleepSince == 0 ? .null : .time(asleepSince),
            "connectedAddress": .string(connectedAddress),
            "way": .string(way), "places": .strings(places),
            "connectionError": .string(connectionError), "pairingState": .string(pairingState),
            "pairingCode": .string(pairingCode),
            "pairingError": .string(pairingError), "muted": .boolean(isMuted),
            "sendError": .string(sendError), "introducedBy": .strings(introducedBy),
            "introductionState": .string(introductionState), "retractedBy": .strings(retractedBy),
        ]
    }
}

extension [KnownDevice] {
    /// What those with these `ids` are called, each in quotation marks.
    func names(of ids: [String]) -> String {
        ids.map { id in (first { $0.id == id }?.label ?? .device(name: "", id: id)).inQuotes }
            .joined(separator: ", ")
    }

    /// The table of `handoff devices` at the time `now`. The peers that they have to do with are among `all`, or them.
    func table(at now: Int64, among all: [KnownDevice]? = nil) -> Table {
        let ids = ShortIDs(map(\.id))
        // The name comes last, because it could imitate whatever came after it.
        var table = Table(
            Heading.id, Heading.state, Heading.since, Heading.addresses, Heading.type, Heading.name,
            shrinking: [Heading.addresses, Heading.name])
        for device in self {
            table.add(
                ids.short(device.id), device.state(among: all ?? self), Age.text(of: device.since, at: now),
                device.whereabouts, ChosenText(name: device.type).shown, ChosenText(name: device.name).shown)
        }
        return table
    }

    /// The devices that `text` names: by their names, exact or as they are shown, or by the beginning of
    /// their ids.
    ///
    /// The digits of an id, as many as are shown, name the device that has that id, even if another device
    /// uses them as its name.
    func named(_ text: String) -> [KnownDevice] {
        let id = text.lowercased()
        let byID = filter { !id.isEmpty && $0.id.hasPrefix(id) }
        if id.count == KnownDevice.idLength, !byID.isEmpty { return byID }
        let byName = filter { $0.name == text || (!$0.name.isEmpty && $0.label.shown == text) }
        if byName.isEmpty { return byID }
        return byName + (id.count < ShortIDs.minimum ? [] : byID.filter { !byName.contains($0) })
    }

    /// The one device that `text` names.
    func choose(_ text: String) throws(CommandFailure) -> KnownDevice {
        let found = named(text)
        guard let device = found.first else {
            throw CommandFailure(
                tr("There is no paired device “{device}”. See “handoff devices”.", ["device": text.shown]),
                .notFound)
        }
        guard found.count == 1 else {
            let list = found.table(at: 0, among: self).lines.joined(separator: "\n")
            throw .ambiguous(
                trn(
                    "“{text}” names {count} device. Give more of the id:",
                    "“{text}” names {count} devices. Give more of the id:", count: found.count,
                    ["text": text.shown]) + "\n\(list)")
        }
        return device
    }
}

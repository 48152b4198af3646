// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStatus
internal import Platform

extension KnownDevice {
    /// Where it is connected, or else where it may be.
    var whereabouts: String { connectedAddress.isEmpty ? addresses.joined(separator: ",") : connectedAddress }

    /// Its pairing and its link, in words.
    var state: String {
        var words = [isPaired ? tr("paired") : tr("not paired"), link]
        switch pairingState {
        case "waiting": words.append(tr("pairing: waiting"))
        case "comparing", "confirmed": words.append(tr("pairing: code {code}", ["code": pairingCode]))
        default: break
        }
        if isMuted { words.append(tr("muted")) }
        return words.joined(separator: ", ")
    }

    /// Since when it is connected, or is not, in microseconds since the Unix epoch; 0 if that is not known.
    var since: Int64 { isConnected ? connectedSince : disconnectedSince }

    /// Whether it is connected, and by which way if that is not the usual one.
    var link: String {
        guard isConnected else { return tr("not connected") }
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
            "connectedSince": .time(connectedSince), "connectedAddress": .string(connectedAddress),
            "way": .string(way), "places": .strings(places),
            "connectionError": .string(connectionError), "pairingState": .string(pairingState),
            "pairingCode": .string(pairingCode),
            "pairingError": .string(pairingError), "muted": .boolean(isMuted),
            "sendError": .string(sendError),
        ]
    }
}

extension [KnownDevice] {
    /// The table of `handoff devices` at the time `now`.
    func table(at now: Int64) -> Table {
        let ids = ShortIDs(map(\.id))
        // The name comes last, because it could imitate whatever came after it.
        var table = Table(
            Heading.id, Heading.state, Heading.since, Heading.addresses, Heading.type, Heading.name,
            shrinking: [Heading.addresses, Heading.name])
        for device in self {
            table.add(
                ids.short(device.id), device.state, Age.text(of: device.since, at: now),
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
            let list = found.table(at: 0).lines.joined(separator: "\n")
            throw .ambiguous(
                trn(
                    "“{text}” names {count} device. Give more of the id:",
                    "“{text}” names {count} devices. Give more of the id:", count: found.count,
                    ["text": text.shown]) + "\n\(list)")
        }
        return device
    }
}

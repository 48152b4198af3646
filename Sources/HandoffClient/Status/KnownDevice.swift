// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces

/// Another device, as the bridge shows it.
struct KnownDevice: Equatable {
    /// 64 hexadecimal digits.
    let id: String
    let path: ObjectPath
    let name: String
    let type: String
    let addresses: [String]
    let isPaired: Bool
    let isConnected: Bool
    /// When it was connected, in microseconds since the Unix epoch; 0 if it is not connected.
    let connectedSince: Int64
    /// Where it is connected; empty if it is not.
    let connectedAddress: String
    /// Why it is not connected, as far as that is known.
    let connectionError: String
    let pairingState: String
    let pairingCode: String
    let pairingError: String

    /// The number of digits in a device's id.
    static let idLength = 64

    /// The device at `path` if it is one.
    init?(_ path: ObjectPath, _ interfaces: [String: [String: Value]]) {
        guard let properties = interfaces[DeviceProxy.interface.text],
            let id = path.suffix(below: HandoffNames.devices)
        else { return nil }
        self.init(path, id: String(id), properties)
    }

    /// The device at `path` with `properties`.
    init(_ path: ObjectPath, id: String, _ properties: [String: Value]) {
        self.path = path
        self.id = id
        name = properties.text("Name")
        type = properties.text("Type")
        addresses = properties.texts("Addresses")
        isPaired = properties.flag("Paired")
        isConnected = properties.flag("Connected")
        connectedSince = properties.time("ConnectedSince")
        connectedAddress = properties.text("ConnectedAddress")
        connectionError = properties.text("ConnectionError")
        pairingState = properties.text("PairingState")
        pairingCode = properties.text("PairingCode")
        pairingError = properties.text("PairingError")
    }

    /// The devices among `objects`: peers first, by name.
    static func all(in objects: ManagedObjects) -> [KnownDevice] {
        objects.compactMap { KnownDevice($0, $1) }
            .sorted { ($0.isPaired ? 0 : 1, $0.name, $0.id) < ($1.isPaired ? 0 : 1, $1.name, $1.id) }
    }

    /// What it calls itself, or else the beginning of its id; fit to be shown.
    var label: ChosenText { ChosenText(name: name.isEmpty ? String(id.prefix(ShortIDs.minimum)) : name) }

    /// The end of a sentence that has named the device by its id: what it calls itself, if anything.
    var callsItself: String { name.isEmpty ? "" : ", which calls itself \(label.quoted)" }

    /// Where it is connected, or else where it may be.
    var places: String { connectedAddress.isEmpty ? addresses.joined(separator: ",") : connectedAddress }

    /// Its pairing and its link, in words.
    var state: String {
        var words = [isPaired ? "paired" : "not paired", isConnected ? "connected" : "not connected"]
        switch pairingState {
        case "waiting": words.append("pairing: waiting")
        case "comparing", "confirmed": words.append("pairing: code \(pairingCode)")
        default: break
        }
        return words.joined(separator: ", ")
    }

    var json: JSON {
        [
            "id": .string(id), "name": .string(name), "type": .string(type), "addresses": .strings(addresses),
            "paired": .boolean(isPaired), "connected": .boolean(isConnected),
            "connectedSince": .integer(connectedSince), "connectedAddress": .string(connectedAddress),
            "connectionError": .string(connectionError), "pairingState": .string(pairingState),
            "pairingCode": .string(pairingCode),
            "pairingError": .string(pairingError),
        ]
    }
}

extension [KnownDevice] {
    /// The table of `handoff devices` at the time `now`.
    func table(at now: Int64) -> Table {
        let ids = ShortIDs(map(\.id))
        // The name comes last, because it could imitate whatever came after it.
        var table = Table("ID", "STATE", "SINCE", "ADDRESSES", "TYPE", "NAME")
        for device in self {
            table.add(
                ids.short(device.id), device.state, Age.text(of: device.connectedSince, at: now),
                device.places, ChosenText(name: device.type).shown, ChosenText(name: device.name).shown)
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
            throw CommandFailure("There is no paired device \(text.quoted). See “handoff devices”.")
        }
        guard found.count == 1 else {
            let list = found.table(at: 0).lines.joined(separator: "\n")
            throw .usage("\(text.quoted) names \(found.count) devices. Give more of the id:\n\(list)")
        }
        return device
    }
}

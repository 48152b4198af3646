// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffClient
package import HandoffCore
internal import HandoffInterfaces
internal import Platform

/// Another device, as the bridge shows it.
package struct KnownDevice: Equatable, Sendable {
    /// 64 hexadecimal digits.
    package let id: String
    /// Its object.
    package let path: ObjectPath
    /// What it calls itself, as it came; see ``label``.
    package let name: String
    /// The kind of device, by the chassis names of the machine; may be empty.
    package let type: String
    /// Where it was found or connected, each `HOST:PORT` or `[V6]:PORT`.
    package let addresses: [String]
    /// Whether it is a peer.
    package let isPaired: Bool
    /// Whether there is a link to it.
    package let isConnected: Bool
    /// When it was connected, in microseconds since the Unix epoch; 0 if it is not connected.
    package let connectedSince: Int64
    /// When the last link ended, in microseconds since the Unix epoch; 0 with a link, or if that is not known.
    package let disconnectedSince: Int64
    /// Since when it sleeps, if it has left something here before, in microseconds since the Unix epoch; otherwise 0.
    package let asleepSince: Int64
    /// Where it is connected; empty if it is not.
    package let connectedAddress: String
    /// By which way it is connected; empty if it is not.
    package let way: String
    /// Where it has said that it can be reached from other networks, each `HOST:PORT` or `[V6]:PORT`.
    package let places: [String]
    /// Why it is not connected, as far as that is known.
    package let connectionError: String
    /// The name of that error; empty if there is none, or the bridge does not tell.
    package let connectionErrorName: String
    /// How far pairing is: `none`, `waiting`, `comparing` or `confirmed`.
    package let pairingState: String
    /// Whether it has asked to be paired, and the user here has yet to agree.
    package let pairingAsked: Bool
    /// The six digits to be compared; empty unless it has come to that.
    package let pairingCode: String
    /// Why it was not paired, as the bridge says it; empty if nothing is known of that.
    package let pairingError: String
    /// The name of that error; empty if there is none, or the bridge does not tell.
    package let pairingErrorName: String
    /// Whether what it sends is not shown as sent.
    package let isMuted: Bool
    /// Whether something that was sent is on its way to it.
    package let isSending: Bool
    /// Why it did not take what was sent last; empty if it did.
    package let sendError: String
    /// The name of that error; empty if there is none, or the bridge does not tell.
    package let sendErrorName: String
    /// What was sent to it while it was away, the oldest first.
    package let waiting: [WaitingSend]
    /// The ids of the peers that introduce it.
    package let introducedBy: [String]
    /// What has become of that: `none`, `offered`, `declined` or `accepted`.
    package let introductionState: String
    /// The ids of the peers whose users have unpaired it, though it is a peer here.
    package let retractedBy: [String]

    /// The number of digits in a device's id.
    package static let idLength = 64

    /// The device at `path` if it is one.
    package init?(_ path: ObjectPath, _ interfaces: [String: [String: Value]]) {
        guard let properties = interfaces[DeviceProxy.interface.text],
            let id = path.suffix(below: HandoffNames.devices)
        else { return nil }
        self.init(path, id: String(id), properties)
    }

    /// The device at `path` with `properties`.
    package init(_ path: ObjectPath, id: String, _ properties: [String: Value]) {
        self.path = path
        self.id = id
        name = properties.text("Name")
        type = properties.text("Type")
        addresses = properties.texts("Addresses")
        isPaired = properties.flag("Paired")
        isConnected = properties.flag("Connected")
        connectedSince = properties.time("ConnectedSince")
        disconnectedSince = properties.time("DisconnectedSince")
        asleepSince = properties.time("AsleepSince")
        connectedAddress = properties.text("ConnectedAddress")
        way = properties.text("Way")
        places = properties.texts("Places")
        connectionError = properties.text("ConnectionError")
        connectionErrorName = properties.text("ConnectionErrorName")
        pairingState = properties.text("PairingState")
        pairingAsked = properties.flag("PairingAsked")
        pairingCode = properties.text("PairingCode")
        pairingError = properties.text("PairingError")
        pairingErrorName = properties.text("PairingErrorName")
        isMuted = properties.flag("Muted")
        isSending = properties.flag("Sending")
        sendError = properties.text("SendError")
        sendErrorName = properties.text("SendErrorName")
        waiting = WaitingSend.all(in: properties["Waiting"])
        introducedBy = properties.texts("IntroducedBy")
        introductionState = properties.text("IntroductionState")
        retractedBy = properties.texts("RetractedBy")
    }

    /// Whether it is known what is open there: it is connected, or has left that here.
    package var canList: Bool { isConnected || asleepSince != 0 }

    /// Whether it is connected through a tunnel or a router.
    package var isOnOtherNetwork: Bool { way == "other-network" }

    /// What brings the connection, if a carrier does.
    package var carrier: String? {
        guard way == "carried" else { return nil }
        return connectedAddress == "by a carrier" ? tr("a carrier") : String(connectedAddress.dropFirst(3))
    }

    /// Whether a peer introduces it, and the user has yet to say whether to pair with it.
    package var isIntroduced: Bool { introductionState == "offered" }
    /// Whether the user does not want to pair with it, though a peer introduces it.
    package var isDeclined: Bool { introductionState == "declined" }
    /// Whether the user has accepted its introduction, and its own user has yet to.
    package var awaitsAcceptance: Bool { introductionState == "accepted" }

    /// The peers among `devices` that introduce it.
    package func introducers(among devices: [KnownDevice]) -> [KnownDevice] {
        devices.filter { introducedBy.contains($0.id) }
    }

    /// The peers among `devices` whose users have unpaired it.
    package func retractors(among devices: [KnownDevice]) -> [KnownDevice] {
        devices.filter { retractedBy.contains($0.id) }
    }

    /// The devices among `objects`: peers first, by name.
    package static func all(in objects: ManagedObjects) -> [KnownDevice] {
        objects.compactMap { KnownDevice($0, $1) }
            .sorted { ($0.isPaired ? 0 : 1, $0.name, $0.id) < ($1.isPaired ? 0 : 1, $1.name, $1.id) }
    }

    /// What it calls itself, or else the beginning of its id; fit to be shown.
    package var label: ChosenText { .device(name: name, id: id) }
}

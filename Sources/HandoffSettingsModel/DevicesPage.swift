// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
package import HandoffStatus
internal import Platform

/// What the page shows that has the devices.
package struct DevicesPage: Equatable, Sendable {
    /// Whether the bridge answers, without which there is nothing to be shown.
    package var isAvailable = false
    /// What this device is called on others.
    package var deviceName = ""
    /// The paired devices, by name.
    package var peers: [DeviceRow] = []
    /// The devices that ask to be paired, or whose codes are being compared.
    package var asking: [AskingRow] = []
    /// The devices that peers introduce, as long as the user has not said whether to pair with them.
    package var introduced: [QuestionRow] = []
    /// The paired devices that other devices have unpaired.
    package var retracted: [QuestionRow] = []
    /// The devices that can be found and are not paired.
    package var nearby: [NearbyRow] = []

    /// Whether there is something that the user is asked.
    package var asks: Bool { !asking.isEmpty || !introduced.isEmpty || !retracted.isEmpty }

    /// What `report` has of it at the time `now`, in microseconds since the Unix epoch.
    package init(_ report: StatusReport?, at now: Int64) {
        guard let report, let bridge = report.bridge.content else { return }
        isAvailable = true
        deviceName = bridge.deviceName
        peers = bridge.devices.filter(\.isPaired).map { DeviceRow($0, at: now) }
        asking = bridge.devices.filter(AskingRow.asks).map { AskingRow($0) }
        introduced = bridge.devices.compactMap { QuestionRow(introduced: $0, among: bridge.devices) }
        retracted = bridge.devices.compactMap { QuestionRow(retracted: $0, among: bridge.devices) }
        nearby = NearbyRow.all(bridge)
    }

    /// Has this device called `name`; empty stands for the name of the machine.
    package static func setName(_ name: String) -> Request { .setPreference("DeviceName", .string(name)) }
}

/// A paired device.
package struct DeviceRow: Equatable, Sendable, Identifiable {
    /// 64 hexadecimal digits.
    package let id: String
    /// What it calls itself.
    package let name: String
    /// Since when it is connected, or that it is not.
    package let standing: String
    /// Where it is connected, and by which way if that is not the usual one; empty if it is not.
    package let address: String
    /// Why it is not connected; empty if it is, or nobody knows.
    package let problem: String
    /// The name of the picture that stands for it.
    package let picture: String
    package let isConnected: Bool
    /// Whether it is known what is open there.
    package let canList: Bool
    /// Whether it was accepted as a peer introduces it, and its user has yet to accept this device.
    package let awaitsAcceptance: Bool
    /// Whether what its user sends to this device is not shown.
    package let isMuted: Bool

    init(_ device: KnownDevice, at now: Int64) {
        id = device.id
        name = device.label.shown
        isConnected = device.isConnected
        awaitsAcceptance = device.awaitsAcceptance
        canList = device.canList
        standing =
            device.awaitsAcceptance
            ? tr("Accepted here. Accept this device there, too.")
            : device.isConnected
                ? Ages.connected(device.connectedSince, at: now)
                : device.asleepSince != 0
                    ? tr("Asleep since {time}", ["time": LocalTime.ofDay(device.asleepSince)])
                    : Ages.last(device.disconnectedSince, at: now)
        let place = device.isConnected ? device.connectedAddress.shown : ""
        address =
            device.carrier.map { tr("By {carrier}", ["carrier": $0.shown]) }
            ?? (device.isOnOtherNetwork ? tr("{address}, over another network", ["address": place]) : place)
        let isExplained = device.canList || device.awaitsAcceptance
        problem = isExplained ? "" : device.connectionFailure?.summary ?? ""
        picture = Pictures.name(ofDevice: device.type)
        isMuted = device.isMuted
    }
}

/// A device that asks to be paired.
package struct AskingRow: Equatable, Sendable, Identifiable {
    /// 64 hexadecimal digits.
    package let id: String
    /// The beginning of the id, by which it can be told apart from others of its name.
    package let shortID: String
    /// What it calls itself.
    package let name: String
    package let picture: String

    init(_ device: KnownDevice) {
        id = device.id
        shortID = String(device.id.prefix(ShortIDs.minimum))
        name = device.label.shown
        picture = Pictures.name(ofDevice: device.type)
    }

    /// Whether the user has something to say about pairing with `device`: it has asked, or codes are being compared. One that
    /// this device has asked does not ask.
    static func asks(_ device: KnownDevice) -> Bool {
        device.pairingAsked || ["comparing", "confirmed"].contains(device.pairingState)
    }
}

/// A device that can be found and is not paired.
package struct NearbyRow: Equatable, Sendable, Identifiable {
    /// How it is reached.
    package enum Way: Equatable, Sendable {
        /// It is connected already; this is its id.
        case device(String)
        /// It is not; these are its addresses.
        case addresses([String])
    }

    package let id: String
    /// What it calls itself.
    package let name: String
    /// Where it is, if that is all that tells it from another one; else empty.
    package private(set) var address: String
    package let way: Way

    private init(_ device: KnownDevice) {
        id = device.id
        name = device.label.shown
        address = (device.isConnected ? device.connectedAddress : device.addresses.first ?? "").shown
        way = .device(device.id)
    }

    private init(_ device: NearbyDevice) {
        id = "\(device.name) \(device.addresses.joined(separator: " "))"
        name = device.label.shown
        address = (device.addresses.first ?? "").shown
        way = .addresses(device.addresses)
    }

    /// Those that `bridge` knows and no peer introduces, unless the user has declined that. One that is announced counts as the
    /// same as one of that name that is connected from there.
    static func all(_ bridge: BridgeStatus) -> [NearbyRow] {
        let connected = bridge.devices.filter {
            !$0.isPaired && $0.isConnected && !$0.isIntroduced && !AskingRow.asks($0)
        }
        // One that was declined is shown nowhere else.
        let known = bridge.devices.filter { !$0.isPaired && ($0.isConnected || !$0.isDeclined) }
        let announced = bridge.nearby.filter { announced in
            !known.contains { announced.isSame(as: $0) }
        }
        var rows = connected.map { NearbyRow($0) } + announced.map { NearbyRow($0) }
        let names = Dictionary(grouping: rows, by: \.name)
        for index in rows.indices where names[rows[index].name]?.count == 1 { rows[index].address = "" }
        return rows
    }
}

/// The pictures of devices.
package enum Pictures {
    /// The name of the picture for a device of this kind, by the chassis names of machines.
    package static func name(ofDevice type: String) -> String {
        switch type {
        case "tablet", "convertible", "detachable": "tablet-symbolic"
        case "handset": "phone-symbolic"
        case "server": "network-server-symbolic"
        default: "computer-symbolic"
        }
    }
}

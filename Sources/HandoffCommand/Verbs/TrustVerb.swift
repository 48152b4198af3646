// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff trust`: pairs with a device by its id.
struct TrustVerb: Verb {
    static let name = "trust"
    static let arguments: String? = "DEVICE-ID [NAME]"
    static let summary = tr("Pair with a device by its id, without comparing digits")

    private let device: String
    private let name: String

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        let arguments = try values.arguments(1...2, "trust DEVICE-ID [NAME]")
        device = arguments[0]
        name = arguments.count == 2 ? arguments[1] : ""
    }

    func run(in session: Session) async throws -> Int32 {
        let bridge = try await session.bridge()
        let id = try await fullID(bridge)
        let path = try await bridge.bridge.trust(deviceId: id, name: name)
        let properties = try await bridge.properties(DeviceProxy.interface, path)
        let known = KnownDevice(path, id: id, properties)
        let ours = try await bridge.bridge.deviceId()
        try session.reply(
            known.name.isEmpty
                ? tr("Device {id} is trusted here.", ["id": id])
                : tr("Device {id} is trusted here as “{device}”.", ["id": id, "device": known.label.shown]),
            known.json)
        if !known.isConnected {
            Output.note(
                tr(
                    "The other device must trust this one too: run “handoff trust {id}” there.",
                    ["id": ours.shown]))
        }
        return 0
    }

    /// A device that is trusted already may be named as everywhere else. For a new one the whole id is
    /// needed: a stranger nearby could make up a name, or an id with the same beginning.
    private func fullID(_ bridge: Daemon) async throws -> String {
        let id = device.lowercased()
        if id.count == KnownDevice.idLength, id.allSatisfy(\.isHexDigit) { return id }
        let peers = try await bridge.devices().filter(\.isPaired)
        guard let peer = try? peers.choose(device) else {
            throw CommandFailure.usage(
                tr(
                    "“{device}” is not the whole id of a device, nor a device that is trusted already. An id has"
                        + " {count} hexadecimal digits; “handoff status” on that device shows it.",
                    ["device": device.shown, "count": "\(KnownDevice.idLength)"]))
        }
        return peer.id
    }
}

/// `handoff unpair`: ends a pairing.
struct UnpairVerb: Verb {
    static let name = "unpair"
    static let arguments: String? = "DEVICE"
    static let summary = tr("End the pairing with a device, on both sides")
    static let completion = Completion.peers

    private let device: String

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        device = try values.arguments(1...1, "unpair DEVICE")[0]
    }

    func run(in session: Session) async throws -> Int32 { try await Self.unpair(device, in: session) }

    @MainLoop
    static func unpair(_ device: String, in session: Session) async throws -> Int32 {
        let bridge = try await session.bridge()
        let peers = try await bridge.devices().filter(\.isPaired)
        let peer = try peers.choose(device)
        try await DeviceProxy(bridge.object(peer.path)).unpair()
        try session.reply(
            peer.name.isEmpty
                ? tr("Device {id} is not trusted any more.", ["id": peer.id])
                : tr(
                    "Device {id} is not trusted any more: “{device}”.",
                    ["id": peer.id, "device": peer.label.shown]),
            peer.json([.init(name: "paired", value: .boolean(false))]))
        if peers.count > 1, await introduces(in: session) {
            Output.note(
                tr("Your other devices are told, and ask whether to unpair it there, too."))
        }
        return 0
    }

    /// Whether peers are told of each other. Without a broker that says so, nothing is known of that.
    @MainLoop
    private static func introduces(in session: Session) async -> Bool {
        guard let broker = try? await session.running(HandoffNames.broker) else { return false }
        let preferences = try? await broker.properties(
            PreferencesProxy.interface, HandoffNames.brokerPath)
        return preferences?.flag("Introduces") ?? false
    }
}

/// `handoff untrust`: does what `handoff unpair` does, under a name that goes with `handoff trust`.
struct UntrustVerb: Verb {
    static let name = "untrust"
    static let arguments: String? = "DEVICE"
    static let summary = tr("The same as “unpair”")
    static let completion = Completion.peers

    private let device: String

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        device = try values.arguments(1...1, "untrust DEVICE")[0]
    }

    func run(in session: Session) async throws -> Int32 {
        try await UnpairVerb.unpair(device, in: session)
    }
}

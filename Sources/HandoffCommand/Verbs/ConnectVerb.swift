// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff connect`: connects to a device by its address.
struct ConnectVerb: Verb {
    static let name = "connect"
    static let arguments: String? = "ADDRESS"
    static let summary = tr("Connect to a device by its address, HOST:PORT or [V6]:PORT")
    static let completion = Completion.addresses

    private let address: String

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        address = try values.arguments(1...1, "connect ADDRESS")[0]
    }

    func run(in session: Session) async throws -> Int32 {
        let bridge = try await session.bridge()
        let path = try await bridge.connect(to: address)
        let properties = try await bridge.properties(DeviceProxy.interface, path)
        let device = KnownDevice(path, id: properties.text("DeviceId"), properties)
        try session.reply(Self.success(device), device.json)
        if !device.isPaired {
            Output.note(
                tr(
                    "It is not paired. If that is its id, and only then, run “handoff trust {id}” here, and"
                        + " “handoff trust” with this device's id there (see “handoff status”).",
                    ["id": device.id]))
        }
        return 0
    }

    private static func success(_ device: KnownDevice) -> String {
        if device.name.isEmpty { return tr("Connected to device {id}.", ["id": device.id]) }
        return tr(
            "Connected to device {id}, which calls itself “{device}”.",
            ["id": device.id, "device": device.label.shown])
    }
}

extension Daemon {
    /// Has the bridge connect to the device at `address`, and says after a while what may keep its answer away.
    /// - Returns: the object of the device.
    func connect(to address: String) async throws -> ObjectPath {
        let progress = ProgressLine()
        let timer = LoopSource.timer(after: .seconds(2)) {
            progress.show(
                tr(
                    "Connecting to {address}. If a firewall there drops connections, this takes a while.",
                    ["address": ChosenText(title: address).shown]))
        }
        defer {
            timer.cancel()
            progress.end()
        }
        // Longer than it takes to give up.
        return try await bridge.connect(address: address, timeout: .seconds(60))
    }
}

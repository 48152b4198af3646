// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import Platform

/// `handoff connect`: connects to a device by its address.
struct ConnectVerb: Verb {
    static let name = "connect"
    static let arguments: String? = "ADDRESS"
    static let summary = "Connect to a device by its address, HOST:PORT or [V6]:PORT"
    static let completion = Completion.addresses

    private let address: String

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        address = try values.arguments(1...1, "connect ADDRESS")[0]
    }

    /// How long to wait for the bridge: longer than it takes to give up.
    private static let timeout = Duration.seconds(60)

    func run(in session: Session) async throws -> Int32 {
        let bridge = try await session.bridge()
        let path = try await bridge.bridge.connect(address: address, timeout: Self.timeout)
        let properties = try await bridge.properties(DeviceProxy.interface, path)
        let device = KnownDevice(path, id: properties.text("DeviceId"), properties)
        try session.reply("Connected to device \(device.id)\(device.callsItself).", device.json)
        if !device.isPaired {
            Output.note(
                "It is not paired. If that is its id, and only then, run “handoff trust \(device.id)” here, and"
                    + " “handoff trust” with this device's id there (see “handoff status”).")
        }
        return 0
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// This device on the bus.
@MainLoop
final class BridgeObject: BridgeServer {
    private let state: BridgeState
    private let settings: BridgeSettings
    private let broker: BrokerClient
    private let devices: Devices
    private let dials: Dials
    private let entrance: Entrance
    private let carriers: Carriers
    private let discovery: Discovery
    private let firewallLook: Firewall
    private let discoverability: Discoverability
    private let trust: @MainLoop (DeviceID, String) throws -> Void

    /// `trust` makes a device trusted, or gives it another name; an empty name changes none.
    init(
        _ state: BridgeState, _ settings: BridgeSettings, _ broker: BrokerClient, _ devices: Devices,
        _ dials: Dials, _ entrance: Entrance, _ carriers: Carriers, _ discovery: Discovery,
        _ firewall: Firewall, _ discoverability: Discoverability,
        trust: @escaping @MainLoop (DeviceID, String) throws -> Void
    ) {
        (self.state, self.settings, self.broker, self.devices) = (state, settings, broker, devices)
        (self.dials, self.entrance, self.carriers, self.discovery) = (dials, entrance, carriers, discovery)
        (firewallLook, self.discoverability, self.trust) = (firewall, discoverability, trust)
    }

    func connect(address: String, _ call: MethodCall) async throws -> ObjectPath {
        guard let parsed = NetworkAddress(address) else {
            throw HandoffFailure(
                .invalidArguments,
                "“\(PeerText.title(address))” is not an address. Give HOST:PORT, or [ADDRESS]:PORT for IPv6.")
        }
        guard await broker.isOnNow() else { throw HandoffFailure.disabled }
        return try devices.path(of: try await dials.connect(parsed))
    }

    func trust(deviceId: String, name: String, _ call: MethodCall) throws -> ObjectPath {
        let device = try DeviceID(checking: deviceId)
        guard name.count <= PeerText.maximumName else {
            throw HandoffFailure(
                .invalidArguments,
                "The name has \(name.count) characters. Give one of at most \(PeerText.maximumName).")
        }
        try trust(device, PeerText.name(name))
        return try devices.path(of: device)
    }

    func registerCarrier(deviceId: String, carrier: ObjectPath, label: String, _ call: MethodCall) throws {
        guard let caller = call.caller.name else {
            throw DBusError.accessDenied("Only connections of a bus can be carriers.")
        }
        try carriers.register(carrier, of: caller, to: try DeviceID(checking: deviceId), label)
    }

    func carry(connection: consuming FileDescriptor, _ call: MethodCall) throws {
        try entrance.take(connection)
    }

    var deviceId: String { state.ownID.description }
    var deviceName: String { settings.deviceName }
    var deviceType: String { state.type }
    var port: UInt16 { entrance.port }
    var discoverable: Bool { discoverability.isOn }
    var version: UInt32 { 1 }
    var discoveryError: String { discovery.error.text }
    var discoveryErrorName: String { discovery.error.name }
    var firewall: [String: Value] { firewallLook.finding?.properties ?? [:] }
    var endedPairings: [[String: Value]] {
        state.endedPairings.map {
            ["DeviceId": .string($0.device.description), "Name": .string($0.name)]
        }
    }
    var nearby: [[String: Value]] {
        discovery.strangers.map {
            ["Name": .string($0.name), "Addresses": .strings($0.addresses.map(\.description))]
        }
    }

    func setDeviceName(_ value: String, _ call: MethodCall) async throws {
        guard !value.isEmpty else {
            throw HandoffFailure(
                .invalidArguments,
                "The name of this device cannot be empty. Give one of 1 to \(PeerText.maximumName) characters."
            )
        }
        try await broker.setDeviceName(value)
    }
    func setDiscoverable(_ value: Bool, _ call: MethodCall) throws {
        discoverability.set(value, by: call.caller.name)
    }
}

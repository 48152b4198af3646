// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// This device on the bus. While it is exported, it keeps the bridge alive.
@MainLoop
final class BridgeObject: BridgeServer {
    private let bridge: Bridge

    init(_ bridge: Bridge) { self.bridge = bridge }

    func connect(address: String, _ call: MethodCall) async throws -> ObjectPath {
        guard let parsed = NetworkAddress(address) else {
            throw HandoffFailure(
                .invalidArguments,
                "“\(PeerText.title(address))” is not an address. Give HOST:PORT, or [ADDRESS]:PORT for IPv6.")
        }
        guard await bridge.broker.isOnNow() else { throw HandoffFailure.disabled }
        return try bridge.devices.path(of: try await bridge.dials.connect(parsed))
    }

    func trust(deviceId: String, name: String, _ call: MethodCall) throws -> ObjectPath {
        let device = try DeviceID(checking: deviceId)
        guard name.count <= PeerText.maximumName else {
            throw HandoffFailure(
                .invalidArguments,
                "The name has \(name.count) characters. Give one of at most \(PeerText.maximumName).")
        }
        try bridge.trust(device, name: PeerText.name(name))
        return try bridge.devices.path(of: device)
    }

    var deviceId: String { bridge.identity.device.description }
    var deviceName: String { bridge.settings.deviceName }
    var deviceType: String { bridge.deviceType }
    var port: UInt16 { bridge.port }
    var discoverable: Bool { bridge.isDiscoverable }
    var version: UInt32 { 1 }
    var discoveryError: String { bridge.discovery.error.text }
    var discoveryErrorName: String { bridge.discovery.error.name }
    var firewall: [String: Value] { bridge.firewall.finding?.properties ?? [:] }
    var nearby: [[String: Value]] {
        bridge.discovery.strangers.map {
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
        try await bridge.broker.setDeviceName(value)
    }
    func setDiscoverable(_ value: Bool, _ call: MethodCall) throws {
        bridge.setDiscoverable(value, by: call.caller.name)
    }
}

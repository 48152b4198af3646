// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport

@testable import HandoffBridge

/// A bridge of a device of its own: it has its own bus and its own folders, and listens on the loopback
/// interface.
@MainLoop
final class TestDevice {
    let bus: MemoryBus
    let folder: TemporaryDirectory
    let bridge: Bridge
    /// A client on the bus.
    let client: Bus
    private(set) var broker: FakeBroker?

    private static let prepared: Void = ProcessEnvironment.prepare()

    private init(_ bus: MemoryBus, _ folder: TemporaryDirectory, _ bridge: Bridge, _ client: Bus) {
        self.bus = bus
        self.folder = folder
        self.bridge = bridge
        self.client = client
    }

    isolated deinit { bridge.end() }

    /// A device whose bridge runs, with a broker unless `hasBroker` is false.
    static func start(hasBroker: Bool = true, isEnabled: Bool = true) async throws -> TestDevice {
        _ = prepared
        let (bus, folder) = (MemoryBus(), try TemporaryDirectory())
        let broker = hasBroker ? try await FakeBroker.start(on: bus, isEnabled: isEnabled) : nil
        let device = try await start(bus, folder)
        device.broker = broker
        if isEnabled { try await eventually { device.bridge.port != 0 } }
        return device
    }

    /// A bridge on `bus` with the state in `folder`.
    static func start(_ bus: MemoryBus, _ folder: TemporaryDirectory) async throws -> TestDevice {
        var options = BridgeOptions(
            stateFolder: folder.path("state"), configuration: folder.path("handoff.conf"))
        try options.listen(at: "127.0.0.1:0")
        let connection = bus.connect()
        let bridge = try Bridge(connection, options)
        bridge.export()
        guard try await connection.request(HandoffNames.bridge) == .owned else {
            throw TestFailure("the name is taken")
        }
        try bridge.begin()
        return TestDevice(bus, folder, bridge, bus.connect())
    }

    /// Another broker, in place of the one that there was.
    func restartBroker(isEnabled: Bool = true) async throws -> FakeBroker {
        try await stopBroker()
        let broker = try await FakeBroker.start(on: bus, isEnabled: isEnabled)
        self.broker = broker
        return broker
    }

    func stopBroker() async throws {
        try await broker?.stop()
        broker = nil
    }

    var id: DeviceID { bridge.state.ownID }
    var address: String { "127.0.0.1:\(bridge.port)" }

    /// The bridge, as a client sees it.
    var proxy: BridgeProxy {
        BridgeProxy(RemoteObject(client.connection, HandoffNames.bridge, HandoffNames.bridgePath))
    }

    /// The device `other`, as a client sees it.
    func device(_ other: TestDevice) throws -> DeviceProxy {
        let path = try HandoffNames.devices.appending(other.id.description)
        return DeviceProxy(RemoteObject(client.connection, HandoffNames.bridge, path))
    }

    /// The way to the peer `other`, as the broker sees it.
    func peer(_ other: TestDevice) throws -> PeerProxy {
        guard let broker else { throw TestFailure("there is no broker") }
        let path = try HandoffNames.bridgePeers.appending(other.id.description)
        return PeerProxy(RemoteObject(broker.bus.connection, HandoffNames.bridge, path))
    }

    /// The way to all peers, as the broker sees it.
    func allPeers() throws -> PeerProxy {
        guard let broker else { throw TestFailure("there is no broker") }
        return PeerProxy(RemoteObject(broker.bus.connection, HandoffNames.bridge, HandoffNames.bridgePeers))
    }

    /// The usable link with `other`.
    func link(with other: TestDevice) -> Link? { bridge.peers[other.id]?.link }

    /// Makes this device and `other` trust each other, and connects to `other`.
    func pair(with other: TestDevice) async throws {
        _ = try await proxy.trust(deviceId: other.id.description, name: "")
        _ = try await other.proxy.trust(deviceId: id.description, name: "")
        _ = try await proxy.connect(address: other.address)
        try await eventually { link(with: other) != nil && other.link(with: self) != nil }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// `handoff send`: sends what is current here to another device, which shows it.
struct SendVerb: Verb {
    static let name = "send"
    static let arguments: String? = "[DEVICE]"
    static let summary = "Send what is current here to a device, which shows it to its user"

    private let device: String?

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        device = try values.arguments(0...1, "send [DEVICE]").first
    }

    func run(in session: Session) async throws -> Int32 {
        let bridge = try await session.bridge()
        let follower = DeviceFollower(bridge)
        // From here on, the bridge tells this connection of changes.
        let peers = try await bridge.devices().filter(\.isPaired)
        let peer =
            try device.map { text throws(CommandFailure) in try peers.choose(text) } ?? peers.onlyConnected()
        try await DeviceProxy(bridge.object(peer.path)).send()
        let outcome = try await follower.state(of: peer) { !$0.isSending }
        guard outcome.sendError.isEmpty else {
            throw CommandFailure("\(peer.label.quoted) has not got it: \(outcome.sendError.shown.sentence)")
        }
        try Output.line("What is current here was sent to \(peer.label.quoted).")
        return 0
    }
}

/// Waits for what becomes of a device.
@MainLoop
private final class DeviceFollower {
    private let bridge: Daemon
    /// Whether something may have changed; false once nothing more is to be expected.
    private let changes: AsyncStream<Bool>
    private let token: SignalToken
    private let watch: NameWatch

    init(_ bridge: Daemon) {
        self.bridge = bridge
        let (changes, feed) = AsyncStream<Bool>.makeStream()
        let (name, connection) = (bridge.name, bridge.bus.connection)
        self.changes = changes
        token = connection.onSignal(.properties) { if $0.sender == name { feed.yield(true) } }
        watch = bridge.bus.watch(HandoffNames.bridge) { if $0 != name { feed.yield(false) } }
        connection.onClosed = { _ in feed.yield(false) }
        feed.yield(true)
    }

    /// The device as it is when `condition` has become true.
    func state(of device: KnownDevice, _ condition: (KnownDevice) -> Bool) async throws -> KnownDevice {
        for await mayHaveChanged in changes {
            guard mayHaveChanged else {
                throw CommandFailure(
                    "The bridge has ended. What was sent may have arrived; send it again if it has not.")
            }
            let properties = try await bridge.properties(DeviceProxy.interface, device.path)
            let state = KnownDevice(device.path, id: device.id, properties)
            if condition(state) { return state }
        }
        return device
    }
}

extension [KnownDevice] {
    /// The one peer that is connected, for who has not named one.
    func onlyConnected() throws(CommandFailure) -> KnownDevice {
        let connected = filter { $0.isPaired && $0.isConnected }
        guard let device = connected.first else {
            throw CommandFailure("No paired device is connected. See “handoff status”.")
        }
        guard connected.count == 1 else {
            let list = connected.table(at: 0).lines.joined(separator: "\n")
            throw .usage("\(connected.count) devices are connected. Name one of them:\n\(list)")
        }
        return device
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffClient
internal import HandoffInterfaces
package import MainLoop

/// One call of `Send` for a device, and what comes of it.
@MainLoop
package final class SendCall {
    /// Why nobody knows what has come of it.
    package enum Failure: Error, Equatable {
        /// The bridge, or the bus, has ended before.
        case bridgeEnded
    }

    /// What has come of it.
    package enum Outcome: Equatable, Sendable {
        /// The device has it.
        case taken
        /// The device is away: it waits for it here.
        case waits
        /// The device did not take it, for this reason.
        case failed(name: String, message: String)
    }

    /// What may make a difference.
    private enum Event: Sendable {
        case changed
        case bridgeEnded
    }

    private let bridge: Daemon
    private let device: ObjectPath
    private let events: AsyncStream<Event>
    private var tokens: [SignalToken] = []
    private var watch: NameWatch?

    /// A call for the device at `path` of `bridge`, which has to have been asked for its devices on this connection.
    package init(_ bridge: Daemon, _ path: ObjectPath) {
        self.bridge = bridge
        device = path
        let (events, feed) = AsyncStream<Event>.makeStream()
        self.events = events
        let (name, connection) = (bridge.name, bridge.bus.connection)
        tokens = [
            connection.onSignal(.properties, "PropertiesChanged") {
                if $0.sender == name, $0.path == path { feed.yield(.changed) }
            },
            connection.whenClosed { _ in feed.yield(.bridgeEnded) },
        ]
        watch = bridge.bus.watch(HandoffNames.bridge) { if $0 != name { feed.yield(.bridgeEnded) } }
        // What is true when Send returns may be over when it is first looked at.
        feed.yield(.changed)
    }

    /// Calls `Send`, and waits until nothing is on its way to the device any more.
    /// - Throws: the error with which the bridge answers; ``Failure``.
    package func outcome() async throws -> Outcome {
        let before = Set(try await waiting().map(\.id))
        try await DeviceProxy(bridge.object(device)).send()
        for await event in events {
            guard case .changed = event else { break }
            let properties = try await properties
            guard !properties.flag("Sending") else { continue }
            let message = properties.text("SendError")
            guard message.isEmpty else {
                return .failed(name: properties.text("SendErrorName"), message: message)
            }
            let isNew = WaitingSend.all(in: properties["Waiting"]).contains { !before.contains($0.id) }
            return isNew ? .waits : .taken
        }
        throw Failure.bridgeEnded
    }

    private func waiting() async throws -> [WaitingSend] {
        WaitingSend.all(in: try await properties["Waiting"])
    }

    private var properties: [String: Value] {
        get async throws { try await bridge.properties(DeviceProxy.interface, device) }
    }
}

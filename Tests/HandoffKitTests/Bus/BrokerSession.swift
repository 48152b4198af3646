// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import MainLoop
import TestSupport

/// A session bus and a broker on it.
@MainLoop
final class BrokerSession {
    nonisolated let address: String
    /// The environment of a program of this session.
    nonisolated let environment: [String: String?]
    private let bus: TestBus
    private let folder: TemporaryDirectory
    private let broker: ChildProcess

    private init(_ bus: TestBus, _ folder: TemporaryDirectory, _ broker: ChildProcess) {
        (self.bus, self.folder, self.broker) = (bus, folder, broker)
        address = bus.address
        environment = bus.environment
    }

    /// A session with a broker that has its name.
    static func start() async throws -> BrokerSession {
        let (bus, folder) = (try await TestBus.start(), try TemporaryDirectory())
        var environment = bus.environment
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "HOME"] {
            environment[name] = folder.path("home")
        }
        let broker = try ChildProcess([program("handoffd")], environment: environment)
        let user = try bus.connect()
        var owner: BusName?
        let watch = user.watch("org.example.Handoff") { owner = $0 }
        try await eventually { owner != nil }
        return withExtendedLifetime(watch) { BrokerSession(bus, folder, broker) }
    }

    /// Kills the broker, as a crash would.
    func kill() { broker.send(signal: 9) }

    /// Ends the bus, as the end of the session would, and the broker with it.
    func killBus() { bus.kill() }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffInterfaces
import HandoffStatus
import MainLoop
import Platform
import TestSupport
import Testing

@Suite("What is reported of the user's choices")
struct PreferencesFeedTests {
    private static let log = Log(domain: "tests")

    @MainLoop
    private static func feed(on bus: TestBus) throws -> (feed: PreferencesFeed, bus: Bus) {
        let connection = try bus.connect()
        connection.connection.policy = BusAccessPolicy()
        return (PreferencesFeed(on: connection, log: log), connection)
    }

    @Test("they are reported when a broker comes, when they change, and that nobody says them when it goes")
    func following() async throws {
        try await onLoop {
            let (bus, folder) = (try await TestBus.start(), try TemporaryDirectory())
            let (feed, connection) = try Self.feed(on: bus)
            var told: [[String: Value]?] = []
            feed.onChange = { [unowned feed] in told.append(feed.preferences) }
            feed.begin()
            try await eventually { told.count == 1 }
            #expect(told == [nil])

            var environment = bus.environment
            for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "HOME"] {
                environment[name] = folder.path("home")
            }
            for _ in 1...2 {
                let broker = try ChildProcess([program("handoffd")], environment: environment)
                try await eventually { feed.preferences?["Enabled"] != nil }
                let owner = try #require(await connection.owner(of: HandoffNames.broker))
                let manager = Daemon(bus: connection, name: owner).manager
                let isEnabled = feed.preferences?.flag("Enabled") ?? false
                try await manager.setEnabled(!isEnabled)
                try await eventually { feed.preferences?["Enabled"] == .boolean(!isEnabled) }
                #expect(feed.preferences?["DisabledAdapters"] != nil)
                broker.send(signal: 9)
                try await eventually { feed.preferences == nil }
                try await eventually { broker.end != nil }
            }
            // None of them is reported twice.
            for (former, next) in zip(told, told.dropFirst()) { #expect(former != next) }
        }
    }

    @Test(
        "as long as a broker does not answer nobody says them, and it is asked again; what it tells meanwhile counts"
    )
    func late() async throws {
        try await onLoop {
            let bus = try await TestBus.start()
            let broker = try bus.connect()
            broker.connection.policy = Everybody()
            _ = try await broker.request(HandoffNames.broker)
            let (feed, _) = try Self.feed(on: bus)
            var count = 0
            feed.onChange = { count += 1 }
            feed.begin()
            try await eventually { count == 1 }
            #expect(feed.preferences == nil)
            broker.connection.objects.tellReaders(of: Choices.description.name, at: HandoffNames.brokerPath)
            broker.connection.objects.export(HandoffNames.brokerPath, [Choices()])
            try await eventually { feed.preferences == ["DeviceName": .string("A name")] }
            Choices.name = "Another name"
            broker.connection.objects.propertiesChanged(
                HandoffNames.brokerPath, Choices.description.name, ["DeviceName"], tell: .subscribers)
            try await eventually { feed.preferences == ["DeviceName": .string("Another name")] }
            #expect(count == 3)
        }
    }
}

/// Lets everybody do everything.
private final class Everybody: AccessPolicy {
    func decide(_ request: AccessRequest) -> AccessDecision { .allow }
}

/// What a broker says that has just one choice.
@MainLoop
private struct Choices: InterfaceBinding {
    static var name = "A name"
    static let description = InterfaceDescription(
        name: PreferencesBinding.description.name, methods: [],
        properties: [
            .init(
                name: "DeviceName", signature: "s", isReadable: true, isWritable: false, access: "any",
                writeAccess: "any")
        ], xml: "")

    func handle(_ method: Int, _ call: MethodCall) throws -> Message {
        throw DBusError(.failed, "None.")
    }
    func read(_ property: Int, into writer: inout MessageWriter) throws(DBusError) {
        try writer.write(Self.name)
    }
    func write(_ property: Int, from reader: inout MessageReader, _ call: MethodCall) throws {}
}

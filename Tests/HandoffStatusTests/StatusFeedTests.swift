// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffInterfaces
import HandoffStatus
import MainLoop
import TestSupport
import Testing

@Suite("What is reported of the daemons")
struct StatusFeedTests {
    /// A bus with a broker in a process of its own, and what it needs.
    @MainLoop
    private final class Session {
        let bus: TestBus
        private let folder: TemporaryDirectory
        private(set) var broker: ChildProcess?

        init() async throws {
            (bus, folder) = (try await TestBus.start(), try TemporaryDirectory())
        }

        func startBroker() throws {
            var environment = bus.environment
            for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "HOME"] {
                environment[name] = folder.path("home")
            }
            broker = try ChildProcess([program("handoffd")], environment: environment)
        }

        func endBroker() async throws {
            guard let broker else { return }
            broker.send(signal: 9)
            try await eventually { broker.end != nil }
        }
    }

    @Test("a broker is reported when it comes, with what changes, and when it goes")
    func following() async throws {
        try await onLoop {
            let session = try await Session()
            let feed = StatusFeed(on: try session.bus.connect())
            var reports: [StatusReport] = []
            feed.onChange = { [unowned feed] in reports.append(feed.report) }
            feed.begin()
            try await eventually { feed.isKnown && !reports.isEmpty }
            #expect(reports == [StatusReport()])
            #expect(feed.broker == nil)

            try session.startBroker()
            try await eventually { feed.report.broker.content?.isEnabled == true }
            #expect(feed.report.broker.content?.preferences["Enabled"] == .boolean(true))
            let broker = try #require(feed.broker)
            try await broker.manager.setEnabled(false)
            try await eventually { feed.report.broker.content?.isEnabled == false }

            #expect(feed.report.broker.content?.clipboardDesktop == "")
            let desktop = try session.bus.connect()
            try await ClipboardProxy(
                RemoteObject(desktop.connection, HandoffNames.broker, HandoffNames.brokerPath)
            ).register(clipboard: "/clipboard", desktop: "X11")
            try await eventually { feed.report.broker.content?.clipboardDesktop == "X11" }
            withExtendedLifetime(desktop) {}

            let client = HandoffClient(.address(session.bus.address))
            withExtendedLifetime(client) {}
            try await session.endBroker()
            try await eventually { feed.report.broker == .absent(canStart: false) }
            #expect(feed.broker == nil)
            // None of them is reported twice.
            for (former, next) in zip(reports, reports.dropFirst()) { #expect(former != next) }
        }
    }

    @Test("by which means the clipboard of the desktop is reached is reported while it is")
    func clipboard() async throws {
        try await onLoop {
            let session = try await Session()
            let feed = StatusFeed(on: try session.bus.connect())
            feed.begin()
            try session.startBroker()
            try await eventually { feed.report.broker.content?.clipboardDesktop == "" }
            let agent = try session.bus.connect()
            let clipboard = ClipboardProxy(
                RemoteObject(agent.connection, HandoffNames.broker, HandoffNames.brokerPath))
            try await clipboard.register(clipboard: "/clipboard", desktop: "X11")
            try await eventually { feed.report.broker.content?.clipboardDesktop == "X11" }
            try await clipboard.unregister()
            try await eventually { feed.report.broker.content?.clipboardDesktop == "" }
            withExtendedLifetime(agent) {}
            try await session.endBroker()
        }
    }

    @Test("a broker that owns its name and does not answer as it should is reported with the reason")
    func silent() async throws {
        try await onLoop {
            let session = try await Session()
            let impostor = try session.bus.connect()
            _ = try await impostor.request(HandoffNames.broker)
            let feed = StatusFeed(on: try session.bus.connect())
            feed.begin()
            try await eventually { feed.isKnown }
            guard case .silent(let reason) = feed.report.broker else {
                Issue.record("It is reported as \(feed.report.broker).")
                return
            }
            #expect(reason.summary == "It has answered with an error." && !reason.detail.isEmpty)
            #expect(feed.broker == nil)
            withExtendedLifetime(impostor) {}
        }
    }

    @Test("a daemon that does not answer at first is asked again by itself, and one that has answered is not")
    func late() async throws {
        try await onLoop {
            let session = try await TestBus.start()
            let late = try await LateBridge(on: session)
            let feed = StatusFeed(on: try session.connect())
            feed.begin()
            try await eventually { feed.isKnown }
            guard case .silent = feed.report.bridge else {
                Issue.record("It is reported as \(feed.report.bridge).")
                return
            }
            late.answer()
            try await eventually { feed.report.bridge.content != nil }
            #expect(feed.bridge?.name == late.bus.uniqueName)
            let asked = late.count
            try await letPass(.seconds(1))
            #expect(asked > 0 && late.count == asked)
        }
    }

    @Test("a service that the bus can start is reported as one, and is not started")
    func startable() async throws {
        try await onLoop {
            let service = "[D-BUS Service]\nName=org.example.Handoff\nExec=/bin/false\n"
            let bus = try await TestBus.start(services: ["org.example.Handoff.service": service])
            let feed = StatusFeed(on: try bus.connect())
            feed.begin()
            try await eventually { feed.isKnown }
            #expect(feed.report.broker == .absent(canStart: true))
            #expect(feed.report.bridge == .absent(canStart: false))
        }
    }
}

/// A bridge that has its name before it answers. Everybody may do everything there, which it counts.
@MainLoop
private final class LateBridge: BridgeServer, AccessPolicy {
    let bus: Bus
    /// How often it was asked something.
    private(set) var count = 0

    init(on session: TestBus) async throws {
        bus = try session.connect()
        bus.connection.policy = self
        _ = try await bus.request(HandoffNames.bridge)
    }

    /// Answers from now on.
    func answer() {
        count = 0
        bus.connection.objects.export(HandoffNames.bridgePath, [BridgeBinding(self)])
        bus.connection.objects.manage(HandoffNames.bridgePath)
    }

    func decide(_ request: AccessRequest) -> AccessDecision {
        count += 1
        return .allow
    }

    func connect(address: String, _ call: MethodCall) async throws -> ObjectPath { "/" }
    func trust(deviceId: String, name: String, _ call: MethodCall) throws -> ObjectPath { "/" }
    func registerCarrier(deviceId: String, carrier: ObjectPath, label: String, _ call: MethodCall) throws {}
    func carry(connection: consuming FileDescriptor, _ call: MethodCall) throws {}
    var deviceId: String { String(repeating: "a", count: 64) }
    var deviceName: String { "late" }
    func setDeviceName(_ value: String, _ call: MethodCall) async throws {}
    var deviceType: String { "laptop" }
    var port: UInt16 { 1 }
    var discoverable: Bool { false }
    func setDiscoverable(_ value: Bool, _ call: MethodCall) throws {}
    var nearby: [[String: Value]] { [] }
    var endedPairings: [[String: Value]] { [] }
    var firewall: [String: Value] { [:] }
    var discoveryError: String { "" }
    var discoveryErrorName: String { "" }
    var version: UInt32 { 1 }
}

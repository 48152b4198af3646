// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("Adapters at the broker")
struct ReplacedAdapterTests {
    private static let id = "com.example.player"

    /// What the desktop entries say as far as they have been read: that the application takes part itself, or that it
    /// belongs to an adapter.
    private static func reading(adapter: String? = nil) throws -> InstalledReading {
        var reading = InstalledReading()
        reading.contents.applications = [
            InstalledApplication(
                try ApplicationID(id), declaration: Declaration(), start: .program,
                adapter: try adapter.map { try AdapterName($0) })
        ]
        return reading
    }

    @Test(
        "an adapter that came before its application's desktop entry was read is told as soon as that has been"
    )
    func overdueReading() async throws {
        try await onLoop {
            let session = try await TestSession.start()
            let bus = session.bus.connect()
            var endings: [String] = []
            let token = bus.connection.onSignal(
                ManagerProxy.interface, ManagerRegistrationEnded.member
            ) { endings.append((try? ManagerRegistrationEnded($0))?.applicationId ?? "unreadable") }
            let manager = ManagerProxy(
                RemoteObject(bus.connection, HandoffNames.broker, HandoffNames.brokerPath))
            func register() async throws {
                try await manager.registerApplication(
                    applicationId: Self.id, activityTypes: ["t"], application: "/x",
                    options: ["Adapter": .boolean(true)])
            }
            session.broker.applications.setInstalled(try Self.reading(adapter: "media"), isWhole: false)
            try await register()
            _ = try await manager.createActivity(activityType: "", properties: [:])
            #expect(session.broker.activities.objects.count == 1)
            session.broker.applications.setInstalled(try Self.reading(), isWhole: false)
            #expect(session.broker.activities.objects.isEmpty)
            try await eventually { endings == [Self.id] }
            let refusal = await #expect(throws: DBusError.self) { try await register() }
            #expect(refusal?.name == .notSupported)
            session.broker.applications.setInstalled(InstalledReading(), isWhole: false)
            try await register()
            #expect(endings.count == 1)
            withExtendedLifetime(token) {}
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop

/// An application on the bus, whose answers a test gives, and which writes down what it is asked.
@MainLoop
final class TestApplication: ApplicationServer {
    let bus: Bus
    /// What it was asked, e.g. `will`, `continue`, `failed NAME`, in order.
    private(set) var events: [String] = []
    /// The activities that it was handed.
    private(set) var activities: [[String: Value]] = []
    var onWillContinue: @MainLoop () async throws -> Bool = { false }
    var onContinue: @MainLoop () async throws -> Bool = { true }

    private static let path: ObjectPath = "/com/example/notes"

    private init(_ bus: Bus) { self.bus = bus }

    /// Registers `id`, which declares `type`.
    static func start(on bus: Bus, _ offer: Offer) async throws -> TestApplication {
        let application = TestApplication(bus)
        bus.connection.policy = AllowAll()
        bus.connection.objects.export(path, [ApplicationBinding(application)])
        let manager = ManagerProxy(
            RemoteObject(bus.connection, HandoffNames.broker, HandoffNames.brokerPath))
        try await manager.registerApplication(
            applicationId: offer.applicationID.description, activityTypes: [offer.type.description],
            application: path, options: ["Team": .string(offer.team.description)])
        return application
    }

    func willContinueActivity(
        activityType: String, context: [String: Value], _ call: MethodCall
    ) async throws -> Bool {
        events.append("will")
        return try await onWillContinue()
    }

    func continueActivity(
        activity: [String: Value], context: [String: Value], _ call: MethodCall
    ) async throws -> Bool {
        events.append("continue")
        activities.append(activity)
        return try await onContinue()
    }

    func didFailToContinueActivity(
        activityType: String, errorName: String, errorMessage: String, _ call: MethodCall
    ) throws { events.append("failed \(errorName)") }
}

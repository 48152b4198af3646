// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffInterfaces
import MainLoop
import TestSupport

/// A broker that only registers applications, for what a real one does seldom, or never.
@MainLoop
final class FakeBroker: ManagerServer, CallGate {
    let bus: Bus
    /// The ids that were registered, in order.
    private(set) var registered: [String] = []
    /// The options of the latest registration, taken or not.
    private(set) var options: [String: Value] = [:]
    /// What answers a registration.
    var onRegister: @MainLoop () throws -> Void = {}
    /// What answers a creation.
    var onCreate: @MainLoop () throws -> ObjectPath = { throw DBusError.limitsExceeded("No more.") }
    private var application: (name: BusName, path: ObjectPath)?

    /// What it is on, which ends with its last user.
    let session: MemoryBus

    private init(_ session: MemoryBus) throws {
        self.session = session
        bus = session.connect()
    }

    /// A broker on `bus`, which has the name now.
    static func start(on session: MemoryBus) async throws -> FakeBroker {
        let broker = try FakeBroker(session)
        let bus = broker.bus
        bus.connection.policy = AllowAll()
        bus.connection.gate = broker
        bus.connection.objects.export(HandoffNames.brokerPath, [ManagerBinding(broker)])
        _ = try await bus.request(HandoffNames.broker, replacing: true)
        return broker
    }

    /// The application that was registered last.
    var proxy: ApplicationProxy? {
        application.map { ApplicationProxy(RemoteObject(bus.connection, $0.name, $0.path)) }
    }

    /// Ends the registration.
    func endRegistration(_ reason: String) throws {
        guard let application else { return }
        let signal = try ManagerBinding.registrationEnded(
            from: HandoffNames.brokerPath, applicationId: "x", reason: reason)
        try signal.setDestination(application.name)
        bus.connection.post(signal)
    }

    func registerApplication(
        applicationId: String, activityTypes: [String], application: ObjectPath, options: [String: Value],
        _ call: MethodCall
    ) throws {
        guard let name = call.caller.name else { return }
        self.options = options
        try onRegister()
        self.application = (name, application)
        registered.append(applicationId)
    }

    // MARK: CallGate

    /// The calls of this name are never answered.
    var unanswered: String?

    func concerns(_ caller: Caller) -> Bool { true }
    func admit(_ call: Message, from caller: Caller, _ run: @escaping @MainLoop (DBusError?) -> Void) {
        if call.member != unanswered { run(nil) }
    }

    func unregisterApplication(_ call: MethodCall) throws { application = nil }

    func createActivity(
        activityType: String, properties: [String: Value], _ call: MethodCall
    ) throws -> ObjectPath { try onCreate() }

    var enabled: Bool { true }
    func setEnabled(_ value: Bool, _ call: MethodCall) throws {}
    var maximumUserInfoSize: UInt32 { 131_072 }
    var recentFetches: [[String: Value]] { [] }
    var fetchesByDevice: [[String: Value]] { [] }
    var hiddenOffers: [[String: Value]] { [] }
    var listingsByDevice: [[String: Value]] { [] }
    var leftActivity: ObjectPath { .root }
    func continueAll(
        activities: [ObjectPath], options: [String: Value], _ call: MethodCall
    ) throws -> ObjectPath { .root }
    var registeredApplications: [[String: Value]] { [] }
    var recentRefusals: [[String: Value]] { [] }
    var version: UInt32 { 1 }
}

/// Lets everybody do everything.
@MainLoop
private final class AllowAll: AccessPolicy {
    func decide(_ request: AccessRequest) -> AccessDecision { .allow }
}

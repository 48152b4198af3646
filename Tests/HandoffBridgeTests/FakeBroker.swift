// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport

/// What the bridge needs from a broker: the switch, the peers, and a record of what they ask.
@MainLoop
final class FakeBroker {
    let bus: Bus
    /// What has happened, e.g. `add ID`, `offer ACTIVITY`, `withdraw ACTIVITY`, in order.
    var events: [String] = []
    /// The names of the peers.
    var names: [String: String] = [:]
    /// Whether what the peers send is not shown as sent.
    var muted: [String: Bool] = [:]
    /// When what each invitation names came, by the wall clock, as was said before it; nil if nothing was said.
    var invitedAt: [Int64?] = []
    fileprivate var announced: Int64?
    /// The latest summary of each activity.
    var summaries: [String: [String: Value]] = [:]
    /// What `Fetch` returns.
    var onFetch: @MainLoop (String, String) async throws -> [String: Value] = { _, _ in
        ["Title": .string("Fetched")]
    }
    /// Why it takes no offers; nil if it does.
    var refusesOffers: HandoffFailure?
    /// Whether it knows of no continuation.
    var refusesContinued = false
    /// What `Park` and `Save` return; nil for nothing.
    var parked: PeerManagerParkReply?
    /// What `OpenDocument` returns.
    var onOpenDocument: @MainLoop (String) async throws -> PeerOpenDocumentReply = { _ in
        throw HandoffFailure(.notSupported, "no documents")
    }
    /// What `OpenStream` returns.
    var onOpenStream: @MainLoop (String) async throws -> FileDescriptor = { _ in
        throw HandoffFailure(.notSupported, "no streams")
    }
    fileprivate(set) var isEnabled: Bool
    fileprivate(set) var deviceName = ""
    /// Why it takes no name, if it takes none.
    var refusal: DBusError?
    private var bridge: BusName?
    private var watch: NameWatch?

    private init(_ bus: Bus, isEnabled: Bool) {
        self.bus = bus
        self.isEnabled = isEnabled
    }

    static func start(on bus: MemoryBus, isEnabled: Bool) async throws -> FakeBroker {
        let connection = bus.connect()
        let broker = FakeBroker(connection, isEnabled: isEnabled)
        connection.connection.policy = AllowAll()
        connection.connection.objects.manage(HandoffNames.brokerPath)
        connection.connection.objects.export(
            HandoffNames.brokerPath,
            [
                ManagerBinding(FakeManager(broker)), PreferencesBinding(FakePreferences(broker)),
                PeerManagerBinding(FakePeerManager(broker)),
            ])
        broker.watch = connection.watch(HandoffNames.bridge) { [weak broker] in broker?.bridge = $0 }
        guard try await connection.request(HandoffNames.broker) == .owned else {
            throw TestFailure("the broker's name is taken")
        }
        return broker
    }

    /// Gives up the bus name, as if the broker had died.
    func stop() async throws { try await bus.release(HandoffNames.broker) }

    /// Switches Handoff on or off.
    func setEnabled(_ value: Bool) {
        isEnabled = value
        tell("Enabled")
    }

    /// The user has chosen another name.
    func setDeviceName(_ value: String) {
        deviceName = value
        tell("DeviceName")
    }

    private func tell(_ preference: String) {
        guard let bridge else { return }
        bus.connection.objects.propertiesChanged(
            HandoffNames.brokerPath, PreferencesBinding.description.name, [preference], tell: .only(bridge))
    }

    /// Whether something has happened.
    func saw(_ event: String) -> Bool { events.contains(event) }
}

/// Allows everything.
final class AllowAll: AccessPolicy {
    func decide(_ request: AccessRequest) -> AccessDecision { .allow }
}

private final class FakeManager: ManagerServer {
    private unowned let broker: FakeBroker
    init(_ broker: FakeBroker) { self.broker = broker }

    var enabled: Bool { broker.isEnabled }
    var maximumUserInfoSize: UInt32 { 131_072 }
    var version: UInt32 { 1 }
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

    func setEnabled(_ value: Bool, _ call: MethodCall) throws { broker.setEnabled(value) }
    func unregisterApplication(_ call: MethodCall) throws {}
    func registerApplication(
        applicationId: String, activityTypes: [String], application: ObjectPath, options: [String: Value],
        _ call: MethodCall
    ) throws {}
    func createActivity(
        activityType: String, properties: [String: Value], _ call: MethodCall
    ) throws -> ObjectPath { .root }
}

private final class FakePreferences: PreferencesServer {
    private unowned let broker: FakeBroker
    init(_ broker: FakeBroker) { self.broker = broker }

    var enabled: Bool { broker.isEnabled }
    var showUnhandledOffers: Bool { false }
    var deviceName: String { broker.deviceName }
    var port: UInt16 { 0 }
    var sharedFolders: [String: String] { [:] }
    var sessions: [String: String] { [:] }

    func setEnabled(_ value: Bool, _ call: MethodCall) throws { broker.setEnabled(value) }
    func setShowUnhandledOffers(_ value: Bool, _ call: MethodCall) throws {}
    func setDeviceName(_ value: String, _ call: MethodCall) throws {
        if let refusal = broker.refusal { throw refusal }
        broker.setDeviceName(value)
    }
    var applications: [String: String] { [:] }
    func setApplications(_ applications: [String: String], _ call: MethodCall) throws {}
    func setPort(_ value: UInt16, _ call: MethodCall) throws {}
    func setSharedFolders(_ value: [String: String], _ call: MethodCall) throws {}
    func setSessions(_ value: [String: String], _ call: MethodCall) throws {}
    var notifyOffers: String { "arrival" }
    func setNotifyOffers(_ value: String, _ call: MethodCall) throws {}
    var clipboard: String { "ask" }
    func setClipboard(_ value: String, _ call: MethodCall) throws {}
    var notifyContinued: Bool { true }
    func setNotifyContinued(_ value: Bool, _ call: MethodCall) throws {}
    var park: Bool { true }
    func setPark(_ value: Bool, _ call: MethodCall) throws {}
    var shareAddresses: Bool { true }
    func setShareAddresses(_ value: Bool, _ call: MethodCall) throws {}
    var introduces: Bool { true }
    func setIntroduces(_ value: Bool, _ call: MethodCall) throws {}
    var shareOpenActivities: Bool { true }
    func setShareOpenActivities(_ value: Bool, _ call: MethodCall) throws {}
    var excludedApplications: [String] { [] }
    func setExcludedApplications(_ value: [String], _ call: MethodCall) throws {}
    var disabledAdapters: [String] { [] }
    func setDisabledAdapters(_ value: [String], _ call: MethodCall) throws {}
    var documentsFolder: String { "" }
    func setDocumentsFolder(_ value: String, _ call: MethodCall) throws {}
}

private final class FakePeerManager: PeerManagerServer {
    private unowned let broker: FakeBroker
    init(_ broker: FakeBroker) { self.broker = broker }

    func attach(_ call: MethodCall) throws -> FileDescriptor {
        guard let name = call.caller.name else { throw DBusError.accessDenied("by the bus alone") }
        let ends = try FileDescriptor.socketPair()
        let socket = AttachedSocket(ends.ours, to: name)
        call.afterReply { [weak broker] in broker?.bus.connection.attach(socket) }
        return ends.theirs
    }

    func addPeer(deviceId: String, properties: [String: Value], _ call: MethodCall) throws -> ObjectPath {
        broker.events.append("add \(deviceId)")
        broker.names[deviceId] = properties["Name"]?.string
        if case .boolean(let isMuted)? = properties["Muted"] { broker.muted[deviceId] = isMuted }
        let path = try HandoffNames.peers.appending(deviceId)
        broker.bus.connection.objects.export(path, [PeerBinding(FakePeer(broker))])
        return path
    }

    func willInvite(deviceId: String, invitedAt: Int64, _ call: MethodCall) throws {
        broker.announced = invitedAt
    }

    func park(_ call: MethodCall) async throws -> PeerManagerParkReply {
        guard let parked = broker.parked else { throw HandoffFailure(.offerWithdrawn, "There is nothing.") }
        return parked
    }

    func parkAside(_ call: MethodCall) async throws -> [LeftActivity] {
        []
    }

    func save(_ call: MethodCall) async throws -> PeerManagerSaveReply {
        guard let parked = broker.parked else { throw HandoffFailure(.offerWithdrawn, "There is nothing.") }
        return PeerManagerSaveReply(
            activity: parked.activity, summary: parked.summary, payload: parked.payload)
    }

    func listActivities(deviceId: String, _ call: MethodCall) async throws -> [ObjectPath] { [] }

    func removePeer(deviceId: String, _ call: MethodCall) throws {
        broker.events.append("remove \(deviceId)")
        broker.bus.connection.objects.unexport(try HandoffNames.peers.appending(deviceId))
    }

    func streamOpened(
        number: UInt32, deviceId: String, continuation: String, isOrigin: Bool,
        bridgeEnd: consuming FileDescriptor,
        _ call: MethodCall
    ) throws { broker.events.append("stream opened \(continuation)") }

    func streamClosed(number: UInt32, _ call: MethodCall) throws {
        broker.events.append("stream closed")
    }
}

private final class FakePeer: PeerServer {
    private unowned let broker: FakeBroker
    init(_ broker: FakeBroker) { self.broker = broker }

    func offer(activity: String, summary: [String: Value], _ call: MethodCall) async throws {
        if let failure = broker.refusesOffers { throw failure }
        guard summary["ActivityType"] != nil else {
            throw HandoffFailure(.invalidArguments, "ActivityType is missing.")
        }
        broker.events.append("offer \(activity)")
        broker.summaries[activity] = summary
    }

    func withdraw(activity: String, _ call: MethodCall) async throws {
        broker.events.append("withdraw \(activity)")
    }

    func invite(activity: String, _ call: MethodCall) async throws {
        broker.events.append("invite \(activity)")
        broker.invitedAt.append(broker.announced)
        broker.announced = nil
    }

    func list(_ call: MethodCall) async throws -> [Structure<String, [String: Value]>] { [] }

    func fetch(activity: String, continuation: String, _ call: MethodCall) async throws -> PackedProperties {
        broker.events.append("fetch \(activity) \(continuation)")
        return try PackedProperties(try await broker.onFetch(activity, continuation))
    }

    func park(
        activity: String, summary: [String: Value], payload: PackedProperties, _ call: MethodCall
    ) async throws {
        broker.events.append("park \(activity)")
        broker.summaries[activity] = summary
    }

    func continuedParked(
        activity: String, continuation: String, revision: UInt64, _ call: MethodCall
    ) async throws {
        broker.events.append("continuedParked \(activity) \(revision)")
    }

    func dismissed(activity: String, _ call: MethodCall) async throws {
        broker.events.append("dismissed \(activity)")
    }

    func continued(continuation: String, _ call: MethodCall) async throws {
        if broker.refusesContinued { throw HandoffFailure(.unknownObject, "There is none.") }
        broker.events.append("continued \(continuation)")
    }

    func release(continuation: String, _ call: MethodCall) async throws {
        broker.events.append("release \(continuation)")
    }

    func openStream(continuation: String, _ call: MethodCall) async throws -> FileDescriptor {
        try await broker.onOpenStream(continuation)
    }

    func clipboardChanged(about: [String: Value], _ call: MethodCall) async throws {}
    func fetchClipboard(type: String, sent: String, _ call: MethodCall) async throws -> [String: Value] {
        [:]
    }

    func openDocument(continuation: String, _ call: MethodCall) async throws -> PeerOpenDocumentReply {
        broker.events.append("document \(continuation)")
        return try await broker.onOpenDocument(continuation)
    }
}

/// The reason why a test cannot go on.
struct TestFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop

/// What the broker needs of a bridge: one peer, whose answers a test gives, and who writes down what it is asked.
@MainLoop
final class FakePeer {
    let device: DeviceID
    /// What has been asked, e.g. `fetch`, `continued`, `release`, in order.
    private(set) var events: [String] = []
    /// What `Fetch` returns.
    var onFetch: @MainLoop () async throws -> [String: Value]
    /// What `Continued` answers.
    var onContinued: @MainLoop () async throws -> Void = {}
    /// What `OpenDocument` returns.
    var onOpenDocument: @MainLoop () async throws -> PeerOpenDocumentReply = {
        throw HandoffFailure(.notSupported, "no documents")
    }
    /// What `FetchClipboard` returns.
    var onFetchClipboard: @MainLoop (String) throws -> [String: Value] = { _ in
        throw HandoffFailure.clipboardEmpty
    }
    /// What this device has told it of its clipboard.
    fileprivate(set) var announcements: [[String: Value]] = []
    private let bus: Bus

    private init(_ bus: Bus, _ device: DeviceID, _ offer: Offer) {
        self.bus = bus
        self.device = device
        onFetch = { FakePeer.activity(of: offer) }
    }

    /// A bridge on `bus`, whose one peer offers `offer`.
    static func start(on bus: Bus, _ device: DeviceID, offering offer: Offer) async throws -> FakePeer {
        let peer = FakePeer(bus, device, offer)
        bus.connection.policy = AllowAll()
        bus.connection.objects.export(HandoffNames.bridgePeers, [PeerBinding(FakePeerServer(peer))])
        _ = try await bus.request(HandoffNames.bridge)
        try await peer.join("Desk")
        try await peer.offer(offer)
        return peer
    }

    /// Another peer of the same bridge, which is called `name`.
    func another(_ device: DeviceID, _ name: String, offering offer: Offer) async throws -> FakePeer {
        let peer = FakePeer(bus, device, offer)
        try await peer.join(name)
        return peer
    }

    private func join(_ name: String) async throws {
        bus.connection.objects.export(
            try HandoffNames.bridgePeers.appending(device.description), [PeerBinding(FakePeerServer(self))])
        try await rename(name)
    }

    /// There is no link with it any more, and so not what it offered.
    func lose(_ offer: Offer) async throws {
        _ = try await PeerManagerProxy(remote(HandoffNames.brokerPath)).addPeer(
            deviceId: device.description, properties: ["Name": .string("Desk"), "Connected": .boolean(false)])
        try await withdraw(offer)
    }

    /// It is no peer any more.
    func leave() async throws {
        try await PeerManagerProxy(remote(HandoffNames.brokerPath)).removePeer(deviceId: device.description)
    }

    /// It fetches an activity of this device.
    func fetch(_ activity: ActivityProxy, _ continuation: Int = 1) async throws -> [String: Value] {
        let id = activity.object.path.text.split(separator: "/").last.map(String.init) ?? ""
        return try await atBroker().fetch(activity: id, continuation: Self.continuation(continuation))
            .unpacked()
    }

    /// The id of one of its continuations.
    static func continuation(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }

    /// The device is called `name` from now on.
    func rename(_ name: String) async throws {
        _ = try await PeerManagerProxy(remote(HandoffNames.brokerPath)).addPeer(
            deviceId: device.description, properties: ["Name": .string(name), "Type": .string("desktop")])
    }

    /// What `Fetch` returns of an activity that is offered as `offer`.
    static func activity(of offer: Offer) -> [String: Value] {
        [
            "ActivityType": .string(offer.type.description),
            "ApplicationId": .string(offer.applicationID.description),
            "Team": .string(offer.team.description), "Title": .string(offer.title),
            "Revision": .uint64(offer.revision), "UserInfo": .properties(["page": .int32(7)]),
            "SupportsContinuationStreams": .boolean(offer.supportsContinuationStreams),
        ]
    }

    /// Offers this, or offers it anew.
    func offer(_ offer: Offer) async throws {
        var summary: [String: Value] = [
            "ActivityType": .string(offer.type.description), "Title": .string(offer.title),
            "ApplicationId": .string(offer.applicationID.description),
            "Team": .string(offer.team.description), "Revision": .uint64(offer.revision),
            "SupportsContinuationStreams": .boolean(offer.supportsContinuationStreams),
        ]
        summary["DocumentType"] = offer.documentType.map { .string($0) }
        try await atBroker().offer(activity: offer.id.description, summary: summary)
    }

    /// Offers it no longer.
    func withdraw(_ offer: Offer) async throws {
        try await atBroker().withdraw(activity: offer.id.description)
    }

    /// How often this has been asked.
    func count(_ event: String) -> Int { events.count { $0 == event } }

    fileprivate func saw(_ event: String) { events.append(event) }

    /// What takes its calls.
    func atBroker() throws -> PeerProxy {
        PeerProxy(remote(try HandoffNames.peers.appending(device.description)))
    }

    private func remote(_ path: ObjectPath) -> RemoteObject {
        RemoteObject(bus.connection, HandoffNames.broker, path)
    }
}

/// Allows everything.
final class AllowAll: AccessPolicy {
    func decide(_ request: AccessRequest) -> AccessDecision { .allow }
}

private final class FakePeerServer: PeerServer {
    /// A broker may still ask when the test is over.
    private weak var known: FakePeer?
    init(_ peer: FakePeer) { known = peer }

    private var peer: FakePeer {
        get throws {
            guard let known else { throw HandoffFailure(.connectionUnavailable, "The test is over.") }
            return known
        }
    }

    func offer(activity: String, summary: [String: Value], _ call: MethodCall) async throws {
        try peer.saw("offer")
    }

    func withdraw(activity: String, _ call: MethodCall) async throws { try peer.saw("withdraw") }

    func invite(activity: String, _ call: MethodCall) async throws { try peer.saw("invite") }

    func list(_ call: MethodCall) async throws -> [Structure<String, [String: Value]>] { [] }

    func fetch(activity: String, continuation: String, _ call: MethodCall) async throws -> PackedProperties {
        try peer.saw("fetch")
        return try PackedProperties(try await peer.onFetch())
    }

    func park(
        activity: String, summary: [String: Value], payload: PackedProperties, _ call: MethodCall
    ) async throws { try peer.saw("park") }

    func continuedParked(
        activity: String, continuation: String, revision: UInt64, _ call: MethodCall
    ) async throws {
        try peer.saw("continuedParked \(activity) \(revision)")
        try await peer.onContinued()
    }

    func dismissed(activity: String, _ call: MethodCall) async throws {
        try peer.saw("dismissed \(activity)")
    }

    func continued(continuation: String, _ call: MethodCall) async throws {
        try peer.saw("continued")
        try await peer.onContinued()
    }

    func release(continuation: String, _ call: MethodCall) async throws { try peer.saw("release") }

    func openStream(continuation: String, _ call: MethodCall) async throws -> FileDescriptor {
        throw HandoffFailure(.notSupported, "no streams")
    }

    func clipboardChanged(about: [String: Value], _ call: MethodCall) async throws {
        try peer.announcements.append(about)
    }

    func fetchClipboard(type: String, sent: String, _ call: MethodCall) async throws -> [String: Value] {
        try peer.saw("fetchClipboard")
        return try peer.onFetchClipboard(type)
    }

    func openDocument(continuation: String, _ call: MethodCall) async throws -> PeerOpenDocumentReply {
        try peer.saw("openDocument")
        return try await peer.onOpenDocument()
    }
}

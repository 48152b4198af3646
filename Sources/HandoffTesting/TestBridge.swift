// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// A device as its peers know it.
struct TestPeer {
    let id: DeviceID
    let name: String
}

/// Passes on what the brokers of two devices say to each other, as the bridges of paired devices do, without a network.
@MainLoop
final class TestBridge {
    private let bus: Bus
    let device: TestPeer
    /// The bridge of the other device; nil while there is no link to one.
    private(set) weak var other: TestBridge?
    /// What this device offers.
    private var offer: (activity: String, summary: [String: Value])?
    private var broker: BusName?
    private var watch: NameWatch?
    private var streams: [TestStream] = []
    private var streamCount: UInt32 = 0

    /// The bridge of `device` on its bus.
    init(_ bus: MemoryBus, of device: TestPeer) {
        (self.bus, self.device) = (bus.connect(), device)
    }

    /// Begins, with the broker that there is and each that follows.
    func begin() async throws {
        let connection = bus.connection
        connection.policy = Trusting()
        connection.objects.export(HandoffNames.bridgePeers, [PeerBinding(self)])
        _ = try await bus.request(HandoffNames.bridge)
        watch = bus.watch(HandoffNames.broker) { [weak self] in self?.brokerChanged($0) }
    }

    /// The two devices are linked from now on.
    static func link(_ first: TestBridge, _ second: TestBridge) {
        (first.other, second.other) = (second, first)
        first.meetPeer()
        second.meetPeer()
    }

    /// The link is cut, and what goes through it breaks.
    func disconnect() {
        guard let former = other else { return breakStreams() }
        (other, former.other) = (nil, nil)
        for (bridge, peer) in [(self, former), (former, self)] {
            bridge.breakStreams()
            bridge.remove(peer.device)
        }
    }

    /// Breaks all streams.
    func breakStreams() {
        for stream in streams { stream.cut() }
        streams = []
    }

    // MARK: This device's broker

    private func brokerChanged(_ new: BusName?) {
        broker = new
        guard new == nil else { return meetPeer() }
        breakStreams()
        if let former = offer {
            offer = nil
            tellPeer { try await $0.withdraw(activity: former.activity) }
        }
    }

    /// Tells the broker of the other device, and of what that offers.
    private func meetPeer() {
        guard let other else { return }
        MainLoop.start { [self] in
            try? await add(other.device)
            if let offer = other.offer {
                try? await peer(other.device).offer(activity: offer.activity, summary: offer.summary)
            }
        }
    }

    private func add(_ peer: TestPeer) async throws {
        let path = try HandoffNames.bridgePeers.appending(peer.id.description)
        bus.connection.objects.export(path, [PeerBinding(self)])
        _ = try await manager().addPeer(
            deviceId: peer.id.description,
            properties: ["Name": .string(peer.name), "Type": .string("desktop")])
    }

    private func remove(_ peer: TestPeer) {
        MainLoop.start { [self] in try? await manager().removePeer(deviceId: peer.id.description) }
    }

    /// What the bridge calls of its own broker.
    func manager() throws -> PeerManagerProxy {
        PeerManagerProxy(RemoteObject(bus.connection, HandoffNames.broker, HandoffNames.brokerPath))
    }

    /// What takes the calls of `peer` at this device's broker.
    private func peer(_ peer: TestPeer) throws -> PeerProxy {
        guard let broker else { throw Self.unreachable }
        return PeerProxy(
            RemoteObject(bus.connection, broker, try HandoffNames.peers.appending(peer.id.description)))
    }

    // MARK: The other device's broker

    /// What takes this device's calls there.
    private func there() throws -> PeerProxy {
        guard let other else { throw Self.unreachable }
        return try other.peer(device)
    }

    /// Tells it something, and does not wait for what it says to that.
    private func tellPeer(_ call: @escaping @MainLoop (PeerProxy) async throws -> Void) {
        guard let proxy = try? there() else { return }
        MainLoop.start { try? await call(proxy) }
    }

    /// Asks it.
    private func ask<Answer: ~Copyable>(_ call: (PeerProxy) async throws -> Answer) async throws -> Answer {
        do { return try await call(try there()) } catch { throw HandoffFailure(routed: error) }
    }

    private static var unreachable: HandoffFailure {
        HandoffFailure(
            .connectionUnavailable,
            "The other device cannot be reached: there is no link to it. Try again later.")
    }

    // MARK: A third device

    /// A device called `name`, which has no applications here, continues `activity` of this device's.
    /// - Parameter body: called while it has the activity, and has not said yet that it is continued there.
    func `continue`(
        _ activity: ActivityID, on name: String, _ body: @MainLoop () -> Void
    ) async throws {
        var generator = UnpredictableNumbers()
        let third = TestPeer(id: DeviceID(using: &generator), name: name)
        let continuation = ContinuationID(using: &generator).description
        try await add(third)
        defer { remove(third) }
        let proxy = try peer(third)
        do {
            _ = try await proxy.fetch(activity: activity.description, continuation: continuation)
            body()
            try await proxy.continued(continuation: continuation)
            try await proxy.release(continuation: continuation)
        } catch {
            throw HandoffFailure(routed: error)
        }
    }
}

extension TestBridge: PeerServer {
    func offer(activity: String, summary: [String: Value], _ call: MethodCall) async throws {
        offer = (activity, summary)
        tellPeer { try await $0.offer(activity: activity, summary: summary) }
    }

    func withdraw(activity: String, _ call: MethodCall) async throws {
        guard offer?.activity == activity else { return }
        offer = nil
        tellPeer { try await $0.withdraw(activity: activity) }
    }

    func invite(activity: String, _ call: MethodCall) async throws {
        try await ask { try await $0.invite(activity: activity) }
    }

    func list(_ call: MethodCall) async throws -> [Structure<String, [String: Value]>] {
        try await ask { try await $0.list() }
    }

    func fetch(activity: String, continuation: String, _ call: MethodCall) async throws -> PackedProperties {
        try await ask {
            try await $0.fetch(
                activity: activity, continuation: continuation, timeout: Deadline.fetch * 2)
        }
    }

    func park(
        activity: String, summary: [String: Value], payload: PackedProperties, _ call: MethodCall
    ) async throws {
        throw HandoffFailure(.notSupported, "No device sleeps here.")
    }

    func continuedParked(
        activity: String, continuation: String, revision: UInt64, _ call: MethodCall
    ) async throws {
        throw HandoffFailure(.notSupported, "No device sleeps here.")
    }

    func dismissed(activity: String, _ call: MethodCall) async throws {
        throw HandoffFailure(.notSupported, "Nothing waits for a device here.")
    }

    func continued(continuation: String, _ call: MethodCall) async throws {
        try await ask { try await $0.continued(continuation: continuation) }
    }

    func release(continuation: String, _ call: MethodCall) async throws {
        try await ask { try await $0.release(continuation: continuation) }
    }

    func clipboardChanged(about: [String: Value], _ call: MethodCall) async throws {
        try await ask { try await $0.clipboardChanged(about: about) }
    }

    func fetchClipboard(type: String, sent: String, _ call: MethodCall) async throws -> [String: Value] {
        try await ask { try await $0.fetchClipboard(type: type, sent: sent, timeout: Deadline.clipboard) }
    }

    func openStream(continuation: String, _ call: MethodCall) async throws -> FileDescriptor {
        guard let other else { throw Self.unreachable }
        let far = try await ask { try await $0.openStream(continuation: continuation) }
        let near = try StreamSocket.makePair()
        let theirs = near.theirs
        let (here, there) = (near.ours.number, far.number)
        let stream = try TestStream(near.ours, far)
        let number = try await opened(stream, here, other.device, continuation, isOrigin: false)
        let origin = try await other.opened(stream, there, device, continuation, isOrigin: true)
        try stream.begin { [weak self, weak other] in
            self?.ended(stream, number)
            other?.ended(stream, origin)
        }
        return theirs
    }

    func openDocument(continuation: String, _ call: MethodCall) async throws -> PeerOpenDocumentReply {
        let reply = try await ask { try await $0.openDocument(continuation: continuation) }
        let about = reply.about
        let near = try StreamSocket.makePair()
        let theirs = near.theirs
        try TestStream(near.ours, reply.stream).begin {}
        return PeerOpenDocumentReply(stream: theirs, about: about)
    }

    // MARK: Streams

    private func opened(
        _ stream: TestStream, _ end: Int32, _ peer: TestPeer, _ continuation: String,
        isOrigin: Bool
    ) async throws -> UInt32 {
        guard let end = FileDescriptor(duplicating: end) else {
            throw DBusError(.failed, "No descriptor is free.")
        }
        streamCount += 1
        let number = streamCount
        streams.append(stream)
        try await manager().streamOpened(
            number: number, deviceId: peer.id.description, continuation: continuation, isOrigin: isOrigin,
            bridgeEnd: end)
        return number
    }

    private func ended(_ stream: TestStream, _ number: UInt32) {
        streams.removeAll { $0 === stream }
        MainLoop.start { [self] in try? await manager().streamClosed(number: number) }
    }
}

/// Allows everything: who calls is a broker of this process.
private final class Trusting: AccessPolicy {
    func decide(_ request: AccessRequest) -> AccessDecision { .allow }
}

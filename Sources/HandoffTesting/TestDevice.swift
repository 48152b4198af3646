// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import FoundationEssentials
internal import Glibc
internal import HandoffBroker
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// One device within this process: a bus, the broker on it, a bridge, and whoever uses them.
@MainLoop
final class TestDevice {
    let device: TestPeer
    let bus: MemoryBus
    let clock = LoopClock()
    let bridge: TestBridge
    /// The device that this one is linked with.
    private(set) weak var peer: TestDevice?
    /// The broker; nil while there is none.
    private(set) var broker: Broker?
    /// What applications have called.
    private(set) var calls: [TestBroker.Call] = []

    /// How many messages have crossed the bus.
    private(set) var traffic = 0
    private let user: Bus
    private let folder = TestFolder()
    /// Who waits for the end of a continuation, by the path of the offer.
    private var waiting: [ObjectPath: [Handover<HandoffFailure?, Never>]] = [:]
    private var token: SignalToken?
    private var watch: NameWatch?
    /// What applications have called of the broker that is still to be answered.
    private var open: Set<Call> = []

    private struct Call: Hashable {
        let sender: String
        let serial: UInt32
    }

    /// A device without a broker.
    init(_ device: TestPeer) {
        (self.device, bus) = (device, MemoryBus())
        user = bus.connect()
        bridge = TestBridge(bus, of: device)
        bus.onMessage = { [weak self] in self?.passed($0) }
        token = user.connection.onSignal(
            RemoteActivityProxy.interface, RemoteActivityContinueFinished.member
        ) { [weak self] in self?.finished($0) }
        watch = user.watch(HandoffNames.broker) { [weak self] in
            if $0 == nil { self?.endAll(Self.brokerEnded) }
        }
    }

    /// The two devices are linked from now on.
    static func link(_ first: TestDevice, _ second: TestDevice) {
        (first.peer, second.peer) = (second, first)
        TestBridge.link(first.bridge, second.bridge)
    }

    /// The link is cut.
    func disconnect() {
        bridge.disconnect()
        peer?.peer = nil
        peer = nil
    }

    /// The path of the file that keeps what its user has chosen.
    var configuration: String { "\(folder.path)/handoff.conf" }

    /// What it offers to other devices.
    var offered: Broker.KnownActivity? { broker.flatMap { broker in broker.offered.flatMap(broker.known) } }

    isolated deinit { broker?.die() }

    // MARK: The broker

    /// The broker begins.
    func start() async {
        guard broker == nil else { return }
        let connection = bus.connect()
        guard let broker = try? Broker(alone: connection, in: folder.path, clock: clock) else { return }
        self.broker = broker
        _ = try? await connection.request(HandoffNames.broker)
    }

    /// The broker ends, as if it was killed.
    func stop() {
        broker?.die()
        broker = nil
        open = []
    }

    /// The user switches Handoff on or off.
    func setEnabled(_ isEnabled: Bool) async {
        try? await ManagerProxy(manager).setEnabled(isEnabled)
    }

    private var manager: RemoteObject {
        RemoteObject(user.connection, HandoffNames.broker, HandoffNames.brokerPath)
    }

    // MARK: What applications call

    /// Whether what applications have called has been answered.
    var hasAnswered: Bool { open.isEmpty }

    private func passed(_ message: Message) {
        traffic += 1
        switch message.kind {
        case .call: called(message)
        case .reply, .error:
            if let caller = message.destination,
                open.remove(Call(sender: caller, serial: message.replySerial)) != nil
            {
                answered(message)
            }
        default: break
        }
    }

    private func called(_ message: Message) {
        guard let sender = message.sender?.text, let member = message.member,
            [ManagerProxy.interface.text, ActivityProxy.interface.text].contains(message.interface)
        else { return }
        open.insert(Call(sender: sender, serial: message.serial))
        var reader = MessageReader(message)
        switch member {
        case "RegisterApplication":
            if let id: String = try? reader.read() { calls.append(.register(id)) }
        case "Update":
            let properties: [String: Value]? = try? reader.read()
            calls.append(.update(properties?.keys.sorted() ?? []))
        case "BecomeCurrent": calls.append(.becomeCurrent)
        case "ResignCurrent": calls.append(.resignCurrent)
        case "LeaveCurrent": calls.append(.leaveCurrent)
        case "BecomeOpen": calls.append(.becomeOpen)
        case "Invalidate": calls.append(.invalidate)
        default: break
        }
    }

    /// What is answered with the path of an activity has created that.
    private func answered(_ reply: Message) {
        guard reply.kind == .reply, reply.signature == "o" else { return }
        var reader = MessageReader(reply)
        if let path: ObjectPath = try? reader.read(),
            let id = path.suffix(below: HandoffNames.activities).flatMap({ ActivityID(String($0)) }),
            let activity = broker?.known(id)
        {
            calls.append(.create(activity.type.description))
        }
    }

    // MARK: Continuing

    /// The user continues what the other device offers.
    /// - Returns: what the user is told if it fails.
    func `continue`() async -> HandoffFailure? {
        guard let broker else { return Self.nothingOffered }
        guard broker.isOn else { return .disabled }
        do {
            guard let other = peer?.device.id, let path = try broker.shownOffer(of: other) else {
                return Self.nothingOffered
            }
            let outcome = Handover<HandoffFailure?, Never>()
            waiting[path, default: []].append(outcome)
            do {
                try await RemoteActivityProxy(RemoteObject(user.connection, HandoffNames.broker, path))
                    .continue(options: [:])
            } catch {
                waiting[path]?.removeAll { $0 === outcome }
                throw error
            }
            return await outcome.take()
        } catch {
            return HandoffFailure(routed: error)
        }
    }

    private func finished(_ signal: Message) {
        guard let path = signal.path, let outcome = try? RemoteActivityContinueFinished(signal) else {
            return
        }
        var failure: HandoffFailure?
        if let name = try? ErrorName(outcome.errorName) {
            failure = HandoffFailure(fromPeer: DBusError(name, outcome.message))
        }
        for one in waiting.removeValue(forKey: path) ?? [] { one.resume(returning: failure) }
    }

    private func endAll(_ failure: HandoffFailure) {
        let all = waiting.values.flatMap { $0 }
        waiting = [:]
        for one in all { one.resume(returning: failure) }
    }

    private static var nothingOffered: HandoffFailure {
        HandoffFailure(
            .offerWithdrawn, "The other device offers nothing. Make an activity current there.")
    }

    private static var brokerEnded: HandoffFailure {
        HandoffFailure(.connectionUnavailable, "The broker has ended meanwhile. Continue the activity again.")
    }
}

/// A folder that lasts as long as this value.
private final class TestFolder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/handoff-testing-XXXXXX".utf8CString)
        // Without a folder nothing is kept, and tests that do not need that go on.
        path =
            mkdtemp(&template) == nil
            ? "/nonexistent"
            : String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

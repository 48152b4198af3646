// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import HandoffSession
import MainLoop
import TestSupport

@testable import HandoffBroker

/// A session with a bus of its own, all of it in this process: a broker, a peer that offers something, an application that continues such, and
/// a user who wants that.
@MainLoop
final class TestSession {
    let bus: MemoryBus
    let broker: Broker
    /// What time it is for the broker.
    var clock: LoopClock { broker.clock }
    let peer: FakePeer
    let application: TestApplication
    /// What the peer offers.
    let offer: Offer
    /// The outcomes that the user was told: the name of the error, empty for none.
    private(set) var outcomes: [String] = []
    /// What the user was told with them.
    private(set) var messages: [String] = []

    private let user: Bus
    let folder: TemporaryDirectory
    /// The documents that were handed off before.
    let memory: DocumentsMemory
    private var token: SignalToken?

    private init(
        _ bus: MemoryBus, _ folder: TemporaryDirectory, _ memory: DocumentsMemory, _ broker: Broker,
        _ peer: FakePeer,
        _ application: TestApplication, _ offer: Offer
    ) throws {
        self.bus = bus
        self.memory = memory
        self.folder = folder
        self.broker = broker
        self.peer = peer
        self.application = application
        self.offer = offer
        user = bus.connect()
        token = user.connection.onSignal(
            RemoteActivityProxy.interface, RemoteActivityContinueFinished.member
        ) { [weak self] message in
            let finished = try? RemoteActivityContinueFinished(message)
            self?.outcomes.append(finished?.errorName ?? "unreadable")
            self?.messages.append(finished?.message ?? "unreadable")
        }
    }

    isolated deinit { broker.die() }

    /// All of it, the application registered and the offer shown.
    /// - Parameter shared: the name of a shared folder, which is in the session's folder.
    static func start(streams: Bool = false, document: String? = nil, shared: String? = nil) async throws
        -> TestSession
    {
        let (bus, folder) = (MemoryBus(), try TemporaryDirectory())
        let connection = bus.connect()
        if let shared {
            try folder.write("[Shared Folders]\n\(shared)=\(folder.path(shared))\n", to: "handoff.conf")
        }
        let memory = DocumentsMemory(folder.path("state/documents"))
        let broker = Broker(
            connection, try Preferences(folder.path("handoff.conf")),
            ReceivedDocuments(in: folder.path("Downloads"), memory), clock: LoopClock())
        broker.export()
        _ = try await connection.request(HandoffNames.broker)
        let offer = try Sample.offer(document: document, streams: streams)
        let peer = try await FakePeer.start(on: bus.connect(), Sample.device(), offering: offer)
        let application = try await TestApplication.start(on: bus.connect(), offer)
        return try TestSession(bus, folder, memory, broker, peer, application, offer)
    }

    /// The user chooses the offer.
    func `continue`() async throws {
        let path = try HandoffNames.remote.appending(peer.device.description).appending(offer.id.description)
        try await RemoteActivityProxy(RemoteObject(user.connection, HandoffNames.broker, path))
            .continue(options: [:])
    }

    /// The continuation that is under way.
    var runner: ContinuationRunner? { broker.continuations.runners.values.first }

    /// Lets so much time pass for the broker, and does what is due by then.
    func pass(_ time: Duration) {
        let end = clock.instant.advanced(by: time).microseconds
        while !clock.advance(to: end) {}
    }

    /// The user switches Handoff on or off.
    func setEnabled(_ isEnabled: Bool) async throws {
        try await manager.setEnabled(isEnabled)
    }

    /// Waits until nothing is left of the continuation, and all that was sent to the user has come.
    func end() async throws {
        try await eventually { broker.continuations.runners.isEmpty }
        // The bus keeps the order: an answer of the broker comes behind all that it has sent.
        _ = try await manager.version()
    }

    private var manager: ManagerProxy {
        ManagerProxy(RemoteObject(user.connection, HandoffNames.broker, HandoffNames.brokerPath))
    }
}

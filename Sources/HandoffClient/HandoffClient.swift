// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffCore
internal import HandoffInterfaces
package import MainLoop
internal import Platform

/// An application as a client of the broker: it is registered, and again with each new broker, and its activities with it.
///
/// Each client has a connection of its own, so a process can have several, each as another application. Nothing here waits
/// for anything, and that there is no bus, no broker, or a broker that comes and goes is no error: what is called is kept,
/// and takes effect in the order of the calls once it can. What is called within one turn of the loop travels together.
@MainLoop
package final class HandoffClient {
    /// Who is asked and told what happens. To be set before ``start(_:)``.
    package weak var delegate: (any HandoffClientDelegate)?
    /// How the client stands with the broker; nil until that is known.
    package private(set) var standing: ClientStanding?

    /// Where it serves its objects.
    package nonisolated static let path: ObjectPath = "/org/example/Handoff/client"

    /// How it gets to a bus.
    private enum Way {
        case address(Bus.Address)
        /// The bus is there already, and so is a broker, if there is to be one.
        case bus(Bus)
    }

    private let way: Way
    private let policy = BusAccessPolicy()
    private var declaration: ClientDeclaration?
    private var bus: Bus?
    private var tokens: [SignalToken] = []
    private var watch: NameWatch?
    /// Who owns the broker's name.
    private var owner: BusName?
    /// The broker that the application is registered with.
    private(set) var broker: Daemon?
    /// Counts whatever makes answers that are still to come worthless.
    private(set) var epoch = 0
    var isFlushScheduled = false
    /// Whether the bus has been asked to start the broker, and has not answered.
    private var isStarting = false
    /// Whether the bus has said who owns the broker's name.
    private var isOwnerKnown = false
    /// Who waits in ``settle(within:)``.
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var nextWaiting = 0
    var activities = ActivityBook()
    var continuations = ContinuationBook()
    let streams = StreamRequests()

    static let log = Log(domain: "handoff-client")
    /// How long a broker may take to answer a registration before that is reported. It is waited for nevertheless.
    private static let patience = Connection.defaultTimeout

    /// A client on the bus at `address`, which ``start(_:)`` connects to.
    package init(_ address: Bus.Address = .session) { way = .address(address) }

    /// A client on `bus`, whose objects and access policy are the client's from now on. The broker is not started.
    package init(on bus: Bus) { way = .bus(bus) }

    // MARK: Begin and end

    /// Registers as `declaration` from now on. A client that has been started is registered anew, and keeps its activities.
    package func start(_ declaration: ClientDeclaration) {
        let isFirst = self.declaration == nil
        self.declaration = declaration
        if !isFirst {
            if policy.nameOwners[.broker] != nil { register() }
            return
        }
        epoch += 1
        let begun = epoch
        MainLoop.start { [weak self] in await self?.connect(begun) }
    }

    /// Takes the registration back, and with it all activities and continuations.
    package func stop() {
        guard declaration != nil || standing != nil else {
            activities = ActivityBook()
            return
        }
        flush()
        declaration = nil
        if let bus, let name = policy.nameOwners[.broker] {
            // Also if the registration was not answered yet: what was sent before takes effect first. The bus is not left
            // before the answer.
            let broker = Daemon(bus: bus, name: name)
            MainLoop.start { try? await broker.manager.unregisterApplication(timeout: .seconds(5)) }
        }
        activities = ActivityBook()
        endBroker(Self.ended("The application has taken its registration back."))
        standing = nil
        leave()
    }

    /// Leaves the bus, until the client is started again.
    private func leave() {
        (owner, watch, tokens) = (nil, nil, [])
        (isOwnerKnown, isStarting) = (false, false)
        policy.nameOwners[.broker] = nil
        bus?.connection.objects.unexport(Self.path)
        bus = nil
    }

    private func connect(_ begun: Int) async {
        let found: Bus?
        switch way {
        case .bus(let bus): found = bus
        case .address(.session) where !SessionBus.isKnown: found = nil
        case .address(let address): found = try? await Bus.connect(address)
        }
        guard begun == epoch else { return }
        guard let found else { return stand(.withoutBus) }
        if found.connection.isClosed { return stand(.busEnded) }
        bus = found
        serve(on: found)
        if case .address = way { await startBroker(on: found) }
    }

    private func serve(on bus: Bus) {
        let server = ClientServer(self)
        policy.seesSandboxes = Sandbox.own == nil
        bus.connection.policy = policy
        bus.connection.objects.export(
            Self.path, [ApplicationBinding(server), ActivityDelegateBinding(server)])
        tokens = [
            bus.connection.onSignal(ManagerProxy.interface, ManagerRegistrationEnded.member) {
                [weak self] in self?.registrationEnded($0)
            },
            bus.connection.onSignal(.properties, "PropertiesChanged") { [weak self] in self?.changed($0) },
            bus.connection.whenClosed { [weak self] _ in self?.busEnded() },
        ]
        watch = bus.watch(HandoffNames.broker) { [weak self] in self?.ownerChanged($0) }
    }

    /// Has the bus start the broker, once: if the user ends it later, it is not started again.
    private func startBroker(on bus: Bus) async {
        isStarting = true
        do {
            try await bus.startService(HandoffNames.broker)
        } catch {
            Self.log.debug("The bus does not start the broker: \(DBusError.converting(error).message)")
        }
        guard self.bus === bus else { return }
        isStarting = false
        if isOwnerKnown, owner == nil { stand(.absent) }
    }

    // MARK: Brokers

    private func stand(_ standing: ClientStanding) {
        guard standing != self.standing || standing == .registered else { return }
        self.standing = standing
        delegate?.standingChanged(standing)
    }

    private func ownerChanged(_ owner: BusName?) {
        isOwnerKnown = true
        guard owner != self.owner || owner == nil else { return }
        let had = self.owner
        self.owner = owner
        if had != nil { endBroker(Self.brokerEnded, isReplaced: owner != nil) }
        guard let owner else {
            if !isStarting { stand(.absent) }
            return
        }
        epoch += 1
        let began = epoch
        bus?.identify(owner) { [weak self] in self?.identified($0, began) }
    }

    /// Who has the name is known. From within a sandbox anybody can take it, and would be handed what users do.
    private func identified(_ caller: Caller, _ began: Int) {
        guard began == epoch else { return }
        guard caller.sandbox == nil || !policy.seesSandboxes else {
            Self.log.warning("\(caller.label) has the broker's name, but runs in a sandbox. It is ignored.")
            return stand(.absent)
        }
        policy.nameOwners[.broker] = caller.name
        register()
    }

    private func register() {
        guard let bus, let owner, let declaration else { return }
        let (broker, began) = (Daemon(bus: bus, name: owner), epoch)
        MainLoop.start { [weak self] in
            await self?.register(with: broker, declaration, began)
        }
    }

    private func register(
        with broker: Daemon, _ declaration: ClientDeclaration, _ began: Int
    ) async {
        // Nothing is asked of a broker that has ended since, nor for an application that has stopped.
        guard began == epoch else { return }
        let asked = MainLoop.now
        do {
            try await broker.manager.registerApplication(
                applicationId: declaration.applicationID, activityTypes: declaration.activityTypes,
                application: Self.path, options: declaration.options, timeout: Self.patience)
            guard began == epoch else { return }
            // A broker that knew the application before keeps its activities.
            let isNew = self.broker == nil
            self.broker = broker
            if isNew { tell(activities.registered()) }
            stand(.registered)
            flush()
        } catch {
            let error = DBusError.converting(error)
            guard began == epoch, !Self.saysThatItIsGone(error) else { return }
            if declaration.isAdapter, error.name == .notSupported, declaration == self.declaration {
                return stepBack(error)
            }
            guard error.name == .noReply || error.name == .timeout else { return stand(.refused(error)) }
            // If it has gone, the watch says so; otherwise it hangs, and may go on later.
            let owner = try? await broker.bus.owner(of: HandoffNames.broker)
            guard began == epoch, owner == broker.name else { return }
            stand(.refused(error))
            // Who claims at once that there is no answer would be asked again without end.
            guard .microseconds(MainLoop.now - asked) >= Self.patience / 2 else { return }
            if began == epoch { await register(with: broker, declaration, began) }
        }
    }

    /// The application needs no adapter. What was called is kept, and means nothing until the client is started again.
    private func stepBack(_ error: DBusError) {
        epoch += 1
        declaration = nil
        leave()
        stand(.replaced(error))
    }

    /// Whether whoever was called is not there any more, of which the bus tells apart from this.
    static func saysThatItIsGone(_ error: DBusError) -> Bool {
        [.serviceUnknown, .nameHasNoOwner, .disconnected].contains(error.name)
    }

    private func registrationEnded(_ signal: Message) {
        guard let broker, signal.sender == broker.name,
            let arguments = try? ManagerRegistrationEnded(signal)
        else { return }
        endBroker(Self.ended(arguments.reason), isReplaced: nil)
        delegate?.registrationEnded(arguments.reason)
        epoch += 1
        policy.nameOwners[.broker] = owner
        register()
    }

    private func busEnded() {
        owner = nil
        endBroker(Self.ended("The session bus has ended."))
        stand(.busEnded)
    }

    /// What the broker had of this client is worth nothing from now on.
    /// - Parameter isReplaced: whether there is another broker; nil if it is the same.
    private func endBroker(_ error: DBusError, isReplaced: Bool? = false) {
        epoch += 1
        let wasRegistered = broker != nil
        broker = nil
        policy.nameOwners[.broker] = nil
        tell(activities.ended())
        resumeWaiting()
        streams.end()
        for failed in continuations.ended() {
            try? delegate?.didFailToContinue(failed.key, type: failed.type, error)
        }
        if wasRegistered, let isReplaced { delegate?.brokerEnded(isReplaced: isReplaced) }
    }

    /// What whoever waits for a broker is told when that ends.
    static let brokerEnded = ended("The broker of Handoff has ended.")

    private static func ended(_ reason: String) -> DBusError {
        HandoffFailure(.connectionUnavailable, "\(reason) Continue the activity again.").dbusError
    }
}

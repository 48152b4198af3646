// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// Performs what the state machine of one continuation asks for: calls to the application, to the origin, and to
/// those who want to know the outcome.
@MainLoop
final class ContinuationRunner {
    private var machine: Continuation
    private let registration: Registration
    private let applicationName: BusName
    private let application: ApplicationProxy
    private let activationToken: String
    private let remotePath: ObjectPath
    private unowned let broker: Broker
    private lazy var timer = DeadlineTimer { [weak self] in
        guard let self else { return }
        perform(machine.advance(to: .now))
    }
    private var trace: ContinuationTrace
    /// What the last `Fetch` brought, as the application will get it.
    private var activity: [String: Value] = [:]

    /// The object that the application is handed.
    let path: ObjectPath
    /// Which offer it continues.
    let key: RemoteActivityKey

    var id: ContinuationID { machine.id }
    var device: DeviceID { machine.device }
    var isRunning: Bool { machine.isRunning }
    /// The type that the user chose.
    var offeredType: ActivityType { machine.offer.type }
    /// The activity that the user chose.
    var offeredActivity: ActivityID { machine.offer.id }
    /// Whether the origin's application takes streams, as far as is known.
    var supportsStreams: Bool {
        (machine.fetched?.offer ?? machine.offer).supportsContinuationStreams
    }

    init(
        _ machine: Continuation, of remote: RemoteActivityObject, registration: Registration,
        activationToken: String, broker: Broker
    ) throws {
        self.machine = machine
        self.registration = registration
        self.activationToken = activationToken
        self.broker = broker
        applicationName = try BusName(registration.connection)
        application = ApplicationProxy(
            RemoteObject(broker.connection, applicationName, try ObjectPath(registration.objectPath)))
        remotePath = remote.path
        key = remote.key
        path = try HandoffNames.continuations.appending(machine.id.description)
        trace = ContinuationTrace(machine.id)
    }

    // MARK: Events

    func begin() {
        trace.began(
            "\(PeerText.message(offeredType.description)) of \(broker.peers.name(of: device)) goes to"
                + " \(registration.applicationID)")
        perform(machine.begin(at: .now))
        // What has just been asked for is on its way before anybody is told.
        run { $0.show() }
    }

    private func show() {
        guard isRunning else { return }
        broker.connection.objects.export(
            path, [ContinuationBinding(ContinuationObject(self, broker))], owner: applicationName)
        broker.peers.perform(broker.remoteOffers.setContinuing(true, key.activity, of: key.device))
    }

    func join(_ caller: BusName, application: ApplicationID?) throws {
        try machine.join(caller.text, application: application)
    }

    func callerVanished(_ name: BusName) { machine.callerVanished(name.text) }

    /// A connection has unregistered or left the bus.
    func applicationVanished(_ connection: String, isOnBus: Bool) {
        if connection == registration.connection { perform(machine.applicationVanished(isOnBus: isOnBus)) }
    }

    func offerRevised(to revision: UInt64) { machine.offerRevised(to: revision) }
    func offerWithdrawn() { perform(machine.offerWithdrawn()) }
    func disabled() { perform(machine.disabled()) }
    func linkLost() { machine.linkLost() }
    func linkRestored() { perform(machine.linkRestored(at: .now)) }

    /// The application no longer holds it.
    func letGo() {
        broker.connection.objects.unexport(path)
        perform(machine.letGo())
    }

    // MARK: Actions

    private func perform(_ actions: [Continuation.Action]) {
        for action in actions { perform(action) }
        timer.set(machine.nextDeadline?.microseconds)
    }

    private func perform(_ action: Continuation.Action) {
        switch action {
        case .startApplication:
            perform(machine.startFailed(Self.later("starts no applications")))
        case .askWillContinue: run { await $0.askWillContinue() }
        case .fetch: run { await $0.fetch() }
        case .awaitDocument, .bringDocument:
            perform(machine.documentFailed(Self.later("brings no documents over"), at: .now))
        case .deliver: run { await $0.deliver() }
        case .openWebPage, .openDocument:
            perform(machine.openFailed(Self.later("opens no pages and documents")))
        case .tellApplicationFailed(let failure): run { await $0.tellApplicationFailed(failure) }
        case .finished(let outcome, let callers): finished(outcome, callers)
        case .confirmContinued: run { await $0.confirmContinued() }
        case .release: release()
        }
    }

    private static func later(_ what: String) -> HandoffFailure {
        HandoffFailure(.notSupported, "This version of Handoff \(what).")
    }

    private func run(_ body: @escaping @MainLoop @Sendable (ContinuationRunner) async -> Void) {
        MainLoop.start { await body(self) }
    }

    private var context: [String: Value] {
        [
            "Continuation": .objectPath(path), "DeviceId": .string(device.description),
            "DeviceName": .string(broker.peers.name(of: device)),
        ]
    }

    private func askWillContinue() async {
        let shows = try? await application.willContinueActivity(
            activityType: machine.offer.type.description, context: context, timeout: Deadline.willContinue * 2
        )
        trace.phase("start")
        perform(machine.willContinueAnswered(shows ?? false, at: .now))
    }

    private func fetch() async {
        do {
            let peer = try broker.bridgePeer(device)
            let fetched = try await peer.fetch(
                activity: machine.offer.id.description, continuation: id.description,
                timeout: Deadline.fetch * 2)
            trace.phase("fetch")
            let (activity, summary) = try FetchedActivity.check(fetched, machine.offer)
            self.activity = activity
            broker.held.fetched(id, supportsStreams: summary.offer.supportsContinuationStreams)
            perform(machine.fetched(summary, at: .now))
        } catch {
            perform(machine.fetchFailed(HandoffFailure(routed: error), at: .now))
        }
    }

    private func deliver() async {
        var context = context
        if !activationToken.isEmpty { context["ActivationToken"] = .string(activationToken) }
        let answer: Continuation.Answer
        do {
            let handled = try await application.continueActivity(
                activity: activity, context: context, timeout: Deadline.continueActivity * 2)
            answer = handled ? .handled : .declined
        } catch let error as DBusError where error.name == .unknownMethod {
            answer = .declined
        } catch {
            answer = .failed(message: DBusError.converting(error).message)
        }
        trace.phase("deliver")
        perform(machine.deliverAnswered(answer, at: .now))
        broker.perform(broker.held.delivered(id))
    }

    private func tellApplicationFailed(_ failure: HandoffFailure) async {
        try? await application.didFailToContinueActivity(
            activityType: machine.offer.type.description, errorName: failure.dbusError.name.text,
            errorMessage: failure.message)
    }

    private func finished(_ outcome: Continuation.Outcome, _ callers: [String]) {
        var (name, message) = ("", "")
        if case .failed(let failure) = outcome {
            (name, message) = (failure.dbusError.name.text, failure.message)
        }
        trace.finished(name.isEmpty ? "continued" : "\(message) (\(name))")
        for caller in callers {
            guard let destination = try? BusName(caller),
                let signal = try? RemoteActivityBinding.continueFinished(
                    from: remotePath, applicationId: registration.applicationID.description, errorName: name,
                    message: message),
                (try? signal.setDestination(destination)) != nil
            else { continue }
            broker.connection.post(signal)
        }
        broker.peers.perform(broker.remoteOffers.setContinuing(false, key.activity, of: key.device))
        if !name.isEmpty { broker.perform(broker.held.released(id)) }
    }

    private func confirmContinued() async {
        do {
            try await broker.bridgePeer(device).continued(continuation: id.description)
        } catch {
            let failure = HandoffFailure(routed: error)
            if failure.code == .connectionUnavailable {
                machine.continuedFailed(at: .now)
                return timer.set(machine.nextDeadline?.microseconds)
            }
            brokerLog.debug("continuation \(id): Continued was answered: \(failure.message)")
        }
        perform(machine.continuedAcknowledged())
    }

    private func release() {
        broker.connection.objects.unexport(path)
        broker.runners[id] = nil
        _ = broker.held.released(id)
        broker.pendingReleases.release(id, of: device)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop
internal import Platform

/// Performs what the state machine of one continuation asks for: calls to the application, to the origin, and to
/// those who want to know the outcome.
@MainLoop
final class ContinuationRunner {
    var machine: Continuation
    /// Which application continues; nil if it is a browser that nobody knows.
    var applicationID: ApplicationID? { machine.target.application }
    /// Which of its connections is handed the activity.
    var recipients = Recipients()
    /// The connection that is handed the activity; nil until it has registered.
    private(set) var registered: (name: BusName, proxy: ApplicationProxy)?
    let activationToken: String
    let owner: ContinuationsHere
    let offers: any ContinuedOffers
    private lazy var timer = DeadlineTimer(by: owner.tools.clock) { [weak self] in
        guard let self else { return }
        perform(machine.advance(to: owner.tools.clock.instant))
    }
    var trace: ContinuationTrace
    /// What the origin has left here, if this broker has it.
    var parked: ParkedActivity?
    /// Whether the origin was not asked, since it sleeps and has left the activity here.
    var isWithoutOrigin: Bool
    /// The callers who are also told how long each phase took.
    private var traceReaders: Set<String> = []
    /// Those who have chosen it together with others.
    var onFinished: [@MainLoop (ContinuingAll.State) -> Void] = []
    /// What the last `Fetch` brought, as the application will get it.
    var activity: [String: Value] = [:]
    /// What is known of its document; nil if it has none.
    var document: FetchedDocument?
    /// Its document as a file of this machine.
    var documentFile = DocumentFile()

    /// The object that the application is handed.
    let path: ObjectPath
    /// Which offer it continues, and where it is on the bus.
    let key: RemoteActivityKey
    private let remotePath: ObjectPath

    var id: ContinuationID { machine.id }
    var device: DeviceID { machine.device }
    var isRunning: Bool { machine.isRunning }
    /// The type that the user chose.
    var offeredType: ActivityType { machine.offer.type }
    var offeredActivity: ActivityID { machine.offer.id }
    /// Whether the application at the origin takes streams, as far as is known.
    var supportsStreams: Bool {
        !machine.getsPageAlone && (machine.fetched?.offer ?? machine.offer).supportsContinuationStreams
    }
    /// What was given the web page or the document; nil before, and if nothing was.
    var openedWith: ApplicationID?

    init(
        _ machine: Continuation, _ key: RemoteActivityKey, at remotePath: ObjectPath, activationToken: String,
        _ parked: ParkedActivity?, _ owner: ContinuationsHere, _ offers: any ContinuedOffers
    ) throws {
        (self.machine, self.parked, isWithoutOrigin) = (machine, parked, parked != nil)
        self.activationToken = activationToken
        self.owner = owner
        self.offers = offers
        self.remotePath = remotePath
        self.key = key
        path = try HandoffNames.continuations.appending(machine.id.description)
        trace = ContinuationTrace(machine.id)
    }

    // MARK: The application

    /// Continues the activity through this registration of the application.
    func use(_ registration: Registration) throws {
        let name = try BusName(registration.connection)
        let object = RemoteObject(owner.connection, name, try ObjectPath(registration.objectPath))
        registered = (name, ApplicationProxy(object))
    }

    /// An application has registered, perhaps the one that was started.
    func applicationRegistered() {
        guard registered == nil, isRunning, machine.target.isHandedActivity, let applicationID,
            let connection = connections(of: applicationID).last,
            let registration = owner.applications.registration(of: connection)
        else { return }
        do {
            let ended = try owner.began(id, on: connection, supportsStreams: supportsStreams)
            try use(registration)
            owner.perform(ended)
        } catch {
            return perform(machine.startFailed(HandoffFailure(routed: error)))
        }
        export()
        perform(machine.applicationReady(at: owner.tools.clock.instant))
    }

    /// Lets the application see the continuation.
    func export() {
        guard let registered else { return }
        owner.connection.objects.export(
            path, [ContinuationBinding(ContinuationObject(self, owner))], owner: registered.name)
    }

    // MARK: Events

    func begin() {
        trace.began(
            "\(PeerText.message(offeredType.description)) of \(owner.peers.name(of: device)) goes to"
                + " \(applicationID?.description ?? "the browser")")
        perform(machine.begin(at: owner.tools.clock.instant))
        // From now on the offer stays until the outcome is out.
        offers.beginContinuing(key)
        // What has just been asked for is on its way before anybody is told.
        run { $0.show() }
    }

    /// By now the offer may have changed, or all may be over: only what is so now is told.
    private func show() {
        if isRunning { export() }
        offers.show(key)
    }

    /// Throws what joining would throw.
    func checkJoining(application: ApplicationID?) throws {
        try machine.checkJoining(application: application)
    }

    func join(_ caller: BusName, application: ApplicationID?) throws {
        try machine.join(caller.text, application: application)
    }

    /// This caller also wants to know how long each phase took.
    func tellTrace(to caller: BusName) { traceReaders.insert(caller.text) }

    func callerVanished(_ name: BusName) {
        machine.callerVanished(name.text)
        traceReaders.remove(name.text)
    }

    /// A connection has unregistered or left the bus.
    func applicationVanished(_ connection: String, isOnBus: Bool) {
        if connection == registered?.name.text { perform(machine.applicationVanished(isOnBus: isOnBus)) }
    }

    func offerRevised(to revision: UInt64) { machine.offerRevised(to: revision) }
    func offerWithdrawn() { perform(machine.offerWithdrawn()) }
    func stop(_ failure: HandoffFailure) { perform(machine.stopped(failure)) }
    /// The user does not want it any more. The actions are to be performed once whoever asked has been answered.
    func cancel() throws -> [Continuation.Action] { try machine.cancel() }
    func linkLost() { machine.linkLost() }
    func linkRestored() { perform(machine.linkRestored(at: owner.tools.clock.instant)) }

    /// The application no longer holds the continuation.
    func letGo() {
        owner.connection.objects.unexport(path)
        perform(machine.letGo())
    }

    // MARK: Actions

    func perform(_ actions: [Continuation.Action]) {
        for action in actions { perform(action) }
        timer.set(machine.nextDeadline?.microseconds)
    }

    private func perform(_ action: Continuation.Action) {
        switch action {
        case .startApplication(let application): runIfWanted { await $0.startApplication(application) }
        case .askWillContinue: run { await $0.askWillContinue() }
        case .fetch: runIfWanted { await $0.fetch() }
        case .awaitDocument: runIfWanted { await $0.awaitDocument() }
        case .bringDocument: runIfWanted { await $0.bringDocument() }
        case .deliver: run { await $0.deliver() }
        case .openWebPage: runIfWanted { await $0.openWebPage() }
        case .openDocument(let application): runIfWanted { await $0.openDocument(by: application) }
        case .tellApplicationFailed(let failure):
            run { await $0.tellApplicationFailed(failure) }
            if isRunning { takeFromApplication() }
        case .finished(let outcome, let callers): finished(outcome, callers)
        case .confirmContinued: run { await $0.confirmContinued() }
        case .release: release()
        }
    }

    private func run(_ body: @escaping @MainLoop @Sendable (ContinuationRunner) async -> Void) {
        MainLoop.start { await body(self) }
    }

    /// The same, unless all is over by then. What began after ``release()`` would be ended by nobody.
    private func runIfWanted(_ body: @escaping @MainLoop @Sendable (ContinuationRunner) async -> Void) {
        run { if $0.isRunning { await body($0) } }
    }

    private var context: [String: Value] {
        [
            "Continuation": .objectPath(path), "DeviceId": .string(device.description),
            "DeviceName": .string(owner.peers.name(of: device)),
        ]
    }

    private func askWillContinue() async {
        let asked = registered
        var shows = false
        do {
            shows =
                try await asked?.proxy.willContinueActivity(
                    activityType: machine.offer.type.description, context: context,
                    timeout: Deadline.willContinue * 2) ?? false
        } catch {
            if handsOver(.willContinue, of: asked?.name, DBusError.converting(error)) { return }
        }
        trace.ended(.start)
        if shows { offers.setShownByApplication(key) }
        perform(machine.willContinueAnswered(shows, at: owner.tools.clock.instant))
    }

    private func deliver() async {
        let activity = await activityToDeliver()
        guard machine.isAwaiting(.continue) else {
            // Meanwhile the time was up, or the application has unregistered: the outcome has been told without it.
            return await tellApplicationFailed(.tooLate(machine.offer))
        }
        guard let activity else { return perform(machine.documentWithheld(at: owner.tools.clock.instant)) }
        var context = context
        if !activationToken.isEmpty { context["ActivationToken"] = .string(activationToken) }
        if let placed = documentFile.brought?.placed, placed.isNew, placed.isWritten {
            context["DocumentIsNew"] = .boolean(true)
        }
        let answer: Continuation.Answer
        let begin = MainLoop.now
        let asked = registered
        do {
            let handled = try await asked?.proxy.continueActivity(
                activity: activity, context: context, timeout: Deadline.continueActivity * 2)
            answer = handled == true ? .handled : .declined
        } catch {
            let error = DBusError.converting(error)
            if handsOver(.continue, of: asked?.name, error) { return }
            // The bus says only that it has left.
            let words = error.name == .noReply ? "It has ended without an answer. Try again." : error.message
            let refusal = Continuation.Refusal(
                name: error.name.text, message: words, path: asked?.proxy.object.path.text ?? "")
            brokerLog.message(
                "continuation \(id): ContinueActivity: \(PeerText.message(error.message)) (\(error.name))")
            answer = error.saysThatMemberIsMissing ? .missing(refusal) : .failed(refusal)
        }
        if answer == .handled { await noteCopyTaken() }
        trace.ended(.deliver, since: begin)
        perform(machine.deliverAnswered(answer, at: owner.tools.clock.instant))
        owner.delivered(id)
    }

    private func tellApplicationFailed(_ failure: HandoffFailure) async {
        do {
            try await registered?.proxy.didFailToContinueActivity(
                activityType: machine.offer.type.description, errorName: failure.dbusError.name.text,
                errorMessage: failure.message)
        } catch {
            let error = DBusError.converting(error)
            guard !error.saysThatMemberIsMissing else { return }
            brokerLog.debug(
                "continuation \(id): DidFailToContinueActivity: \(PeerText.message(error.message)) (\(error.name))"
            )
        }
    }

    private func finished(_ outcome: Continuation.Outcome, _ callers: [String]) {
        var (name, message) = ("", documentFile.note)
        if case .failed(let failure) = outcome {
            (name, message) = (failure.dbusError.name.text, failure.message + documentFile.whereabouts)
        }
        trace.finished(name, message)
        for caller in callers {
            if traceReaders.contains(caller) {
                post(to: caller) { () throws(DBusError) in
                    try RemoteActivityBinding.continueTrace(
                        from: remotePath, continuation: id.description, phases: trace.phases)
                }
            }
            post(to: caller) { () throws(DBusError) in
                try RemoteActivityBinding.continueFinished(
                    from: remotePath, applicationId: (openedWith ?? applicationID)?.description ?? "",
                    errorName: name, message: message)
            }
        }
        let state: ContinuingAll.State =
            switch outcome {
            case .continued: .continued(openedWith ?? applicationID, note: message)
            case .failed(let failure): .failed(HandoffFailure(failure.code, message))
            }
        for tell in onFinished { tell(state) }
        onFinished = []
        if name.isEmpty { offers.continued(key) }
        // It is not to be shown again before its device knows.
        if isWithoutOrigin, name.isEmpty { offers.continuedParked(key, id, revision: machine.offer.revision) }
        offers.endContinuing(key)
        if !name.isEmpty { owner.released(id) }
    }

    private func post(to caller: String, _ make: () throws(DBusError) -> Message) {
        guard let destination = try? BusName(caller), let signal = try? make(),
            (try? signal.setDestination(destination)) != nil
        else { return }
        owner.connection.post(signal)
    }

    private func confirmContinued() async {
        guard !isWithoutOrigin else { return perform(machine.continuedAcknowledged()) }
        do {
            try await owner.peers.bridgePeer(device).continued(continuation: id.description)
        } catch {
            let failure = HandoffFailure(routed: error)
            // Only these say that the origin will never know. A device that is barred or switched off for a moment will.
            if ![.unknownObject, .notPaired, .invalidArguments].contains(failure.code) {
                machine.continuedFailed(at: owner.tools.clock.instant)
                return timer.set(machine.nextDeadline?.microseconds)
            }
            brokerLog.debug("continuation \(id): Continued was answered: \(failure.message)")
            offers.continuedUnheard(key)
        }
        perform(machine.continuedAcknowledged())
    }

    private func release() {
        stopDocument()
        owner.connection.objects.unexport(path)
        owner.ended(self)
    }
}

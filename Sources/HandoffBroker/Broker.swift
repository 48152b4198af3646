// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffCore
internal import HandoffDaemon
internal import HandoffInterfaces
internal import HandoffSession
internal import HandoffStarting
package import MainLoop
internal import Platform

/// The broker of a session: applications and their activities on one side, offers of peers and their
/// continuation on the other, with the state machines of HandoffCore in between.
@MainLoop
package final class Broker {
    let bus: Bus
    var connection: Connection { bus.connection }
    let preferences: Preferences
    let clock: LoopClock
    private let policy: BusAccessPolicy

    var registry: Registry
    var activities: SessionActivities
    var remoteOffers: RemoteOffers {
        didSet { offersTimer.set(remoteOffers.nextDeadline?.microseconds) }
    }
    var origin = OriginContinuations() {
        didSet { originTimer.set(origin.nextDeadline?.microseconds) }
    }
    var held = HeldContinuations()
    var holdings = ClientHoldings()
    private let freedMemory = FreedMemory()
    private(set) lazy var peers = Peers(self)
    private(set) lazy var pendingReleases = PendingReleases(self)
    private(set) lazy var guards = StreamGuards(self)
    private(set) lazy var sentDocuments = SentDocuments(self)
    private(set) lazy var offerNews = OfferNews(self)
    private(set) lazy var unreadMessages = UnreadMessagesWatch(self)
    let looks = FileLooks()
    private(set) lazy var starter = ApplicationStarter(bus, looks)
    let documents: ReceivedDocuments
    private(set) lazy var defaults = DefaultApplications { [weak self] in self?.updateHandlers() }
    private(set) lazy var sharedFolders = KnownFolders(preferences, looks)
    private(set) lazy var sites = Sites(isEnabled: preferences.isEnabled) { [weak self] in
        self?.updateHandlers()
    }
    private(set) lazy var firstReading = FirstReading(self, next: PeerCalls(self))
    private(set) lazy var installedApplications = InstalledApplications { [weak self] in
        self?.setInstalled($0, isWhole: $1)
    }
    /// Which names of files stand for which types, as far as that has been read.
    var fileNameTypes = FileNameTypes()

    var recentFetches = RecentFetches() { didSet { fetched() } }
    /// Whether subscribers have yet to be told of what was fetched.
    private var isFetchUntold = false
    private(set) lazy var fetchLog = FetchLog(self)

    var activityObjects: [ActivityID: ActivityObject] = [:]
    private var hintedTypes: Set<ActivityType> = []
    var runners: [ContinuationID: ContinuationRunner] = [:]
    private var bridgeWatch: DaemonWatch?
    /// The unique name of the bridge, nil while there is none.
    var bridge: BusName?
    /// The bridge that is on the bus, which may not answer.
    private(set) var presentBridge: BusName?
    /// The bridge that has attached last.
    var attachedBridge: BusName?
    /// Whether there is no bridge because its socket has ended, and its peers are forgotten already.
    var wasBridgeLost = false

    private lazy var activitiesTimer = DeadlineTimer(by: clock) { [weak self] in
        guard let self else { return }
        perform(activities.advance(to: clock.moment))
    }
    private lazy var offersTimer = DeadlineTimer(by: clock) { [weak self] in
        guard let self else { return }
        peers.perform(remoteOffers.advance(to: clock.instant))
    }
    private lazy var originTimer = DeadlineTimer(by: clock) { [weak self] in
        guard let self else { return }
        perform(origin.advance(to: clock.instant))
    }

    /// A broker on `bus`, with the switch as it was left.
    /// - Throws: if the settings cannot be read.
    package convenience init(_ bus: Bus) throws {
        try self.init(bus, Preferences(HandoffDirectories.configurationFile))
    }

    /// A broker on `bus` for a user who has chosen this, and who has documents placed in `documents`.
    init(
        _ bus: Bus, _ preferences: Preferences, _ documents: ReceivedDocuments = ReceivedDocuments(),
        clock: LoopClock = .machine
    ) {
        self.bus = bus
        self.clock = clock
        self.documents = documents
        self.preferences = preferences
        documents.place(in: preferences.documentsFolder)
        registry = Registry()
        registry.excluded = preferences.excludedApplications
        registry.disabledAdapters = preferences.disabledAdapters
        activities = SessionActivities(isEnabled: preferences.isEnabled)
        remoteOffers = RemoteOffers(
            isEnabled: preferences.isEnabled, showsUnhandled: preferences.showsUnhandled)
        policy = BusAccessPolicy(bus: bus)
    }

    /// Exports the objects, so that all of them are there when the bus name is requested.
    package func export() {
        // This comes before the name is requested, since a bridge that sees the name adds its peers at once.
        bridgeWatch = DaemonWatch(HandoffNames.bridge, on: bus, log: brokerLog) { [weak self] in
            self?.bridgeChanged($0)
        }
        connection.policy = policy
        connection.observer = unreadMessages
        connection.gate = firstReading
        connection.objects.manage(HandoffNames.brokerPath)
        connection.objects.tellReaders(
            of: PreferencesBinding.description.name, at: HandoffNames.brokerPath)
        connection.objects.export(
            HandoffNames.brokerPath,
            [
                ManagerBinding(ManagerObject(self)),
                PreferencesBinding(PreferencesObject(self)),
                PeerManagerBinding(PeerManagerObject(peers, guards) { [weak self] in self?.attach($0) }),
            ])
        bus.onVanished = { [weak self] in self?.vanished($0) }
        connection.objects.explainAbsence = { [weak self] in self?.explainAbsence(of: $1, to: $0, $2) }
    }

    /// Does what can wait until the name is owned: has the desktop entries read, and asks the
    /// bus to start the bridge. Without a bridge, everything local works.
    package func begin() {
        installedApplications.begin()
        documents.removeAbandoned()
        MainLoop.start { [bus] in
            do {
                try await bus.startService(HandoffNames.bridge)
            } catch {
                brokerLog.debug("No bridge was started: \(DBusError.converting(error).message)")
            }
        }
    }

    /// Leaves nothing incomplete behind at the end.
    package func settle() async { await documents.settle() }

    private func bridgeChanged(_ owner: BusName?) {
        presentBridge = owner
        if let attachedBridge, attachedBridge != owner {
            connection.detach(attachedBridge)
            self.attachedBridge = nil
        }
        setBridge(owner)
    }

    // MARK: Applications

    /// A connection has left the bus.
    private func vanished(_ name: BusName) {
        firstReading.vanished(name)
        forget(name)
        holdings.left(name.text)
        unreadMessages.vanished(name)
        registry.vanished(name.text)
        guards.vanished(name)
    }

    /// Drops everything that belongs to a connection that can no longer be told of anything.
    func forget(_ name: BusName) {
        for runner in runners.values { runner.callerVanished(name) }
        unregister(name.text, isOnBus: false)
        connection.objects.forget(name)
    }

    /// Removes what `connection` registered, and ends what it has. `isOnBus`: whether it can still be told.
    func unregister(_ connection: String, isOnBus: Bool) {
        let former = registry.remove(connection)
        if former != nil { declareNothing(connection) }
        perform(activities.connectionVanished(connection, at: clock.moment))
        for runner in runners.values { runner.applicationVanished(connection, isOnBus: isOnBus) }
        perform(held.connectionVanished(connection))
        if former != nil { updateHandlers() }
    }

    /// `connection` has registered, perhaps not for the first time: its activities belong to its team now.
    func registered(_ connection: String) {
        endReplacedAdapters()
        for activity in activities.activities(of: connection) {
            activityObjects[activity.id]?.registrationChanged()
        }
        updateHandlers()
        for runner in runners.values { runner.applicationRegistered() }
        if let registration = registry.registration(of: connection), registration.receives {
            starter.registered(registration.applicationID)
        }
    }

    /// The applications have changed: who can continue what is looked up again.
    func updateHandlers() {
        peers.perform(
            remoteOffers.updateHandlers {
                handlers(for: $0)
            } keptOut: {
                keptOut(from: $0)
            })
        peers.applicationsChanged()
    }

    /// What can continue `offer` here, best first.
    func handlers(for offer: Offer) -> [Handler] { registry.handlers(for: offer, with: choices(for: offer)) }

    /// What could continue it if the user had not excluded it.
    func keptOut(from offer: Offer) -> KeptOut { registry.keptOut(from: offer, with: choices(for: offer)) }

    /// Why there is nothing at `path` for `caller`, if there is anything to say about that.
    private func explainAbsence(of path: ObjectPath, to caller: Caller, _ member: String) -> DBusError? {
        guard let name = caller.name else { return nil }
        if member == "OpenStream", let text = path.suffix(below: HandoffNames.continuations),
            let id = ContinuationID(String(text)), held.endedWithoutStreams(id, of: name.text)
        {
            return HandoffFailure.noStreams(id).dbusError
        }
        guard let ending = registry.ending(of: name.text) else { return nil }
        return .unknownObject("There is no object \(path). \(ending)")
    }

    // MARK: Activities

    func object(of id: ActivityID) -> ActivityObject? { activityObjects[id] }

    func add(_ object: ActivityObject) throws {
        try holdings.begin(object.state.size, of: object.owner.text)
        do throws(HandoffFailure) {
            try activities.create(
                object.id, connection: object.owner.text, type: object.type,
                applicationID: object.applicationID, details: object.details)
        } catch {
            holdings.end(object.state.size, of: object.owner.text)
            throw error
        }
        activityObjects[object.id] = object
        object.hintAtStreams()
    }

    /// Exports `object`, which has been added.
    func export(_ object: ActivityObject) {
        connection.objects.export(object.path, [ActivityBinding(object)], owner: object.owner)
    }

    /// Logs, once for each type, that a `UserInfo` of `size` bytes is large.
    func hintAtStreams(_ type: ActivityType, _ size: Int) {
        guard hintedTypes.count < 1024, hintedTypes.insert(type).inserted else { return }
        brokerLog.message(
            "UserInfo of an activity of type \(PeerText.message(type.description)) takes \(size) bytes. Keep it"
                + " under \(UserInfoRules.comfortableSize), and send the bulk through a stream.")
    }

    func perform(_ actions: [SessionActivities.Action]) {
        for action in actions {
            switch action {
            case .offer(let offer): offerNews.tell(offer)
            case .withdraw(let id): offerNews.tellEnd(of: id)
            case .currentChanged(let id, let isCurrent):
                activityObjects[id]?.currentChanged(isCurrent)
            case .invalidated(let id):
                guard let object = activityObjects.removeValue(forKey: id) else { continue }
                connection.objects.unexport(object.path)
                object.invalidate()
                holdings.end(object.state.size, of: object.owner.text)
                freedMemory.freed(object.state.size)
                perform(origin.activityInvalidated(id))
            }
        }
        origin.offered(activities.offered?.id, at: clock.instant)
        activitiesTimer.set(activities.nextDeadline?.microseconds)
    }

    /// The activity that peers are offered at this moment; an expiration date that has just passed counts.
    var offeredNow: ActivityID? {
        perform(activities.advance(to: clock.moment))
        return activities.offered?.id
    }

    // MARK: Continuations here

    func perform(_ actions: [HeldContinuations.Action]) {
        for case .ended(let id) in actions { runners[id]?.letGo() }
    }

    // MARK: The switch

    func setEnabled(_ isEnabled: Bool, _ call: MethodCall) throws {
        guard isEnabled != activities.isEnabled else { return }
        try preferences.setEnabled(isEnabled)
        brokerLog.message("Handoff is switched \(isEnabled ? "on" : "off") by \(call.caller.label).")
        let own = activities.setEnabled(isEnabled, at: clock.moment)
        let offers = remoteOffers.setEnabled(isEnabled)
        call.afterReply { [weak self] in
            guard let self else { return }
            perform(own)
            sites.setEnabled(isEnabled)
            // It is told once the bridge has heard of the withdrawal, so that it can still pass that on.
            MainLoop.start { [weak self] in self?.tellEnabled() }
            if !isEnabled {
                for runner in runners.values { runner.disabled() }
                perform(origin.disabled())
            }
            peers.perform(offers)
        }
    }

    private func tellEnabled() {
        tellSubscribers(["Enabled"])
        tellPreferences(["Enabled"])
    }

    /// Tells subscribers of what was fetched, once for all that was fetched within a turn of the loop.
    private func fetched() {
        guard !isFetchUntold else { return }
        isFetchUntold = true
        MainLoop.start { [weak self] in
            guard let self else { return }
            isFetchUntold = false
            tellSubscribers(["RecentFetches", "FetchesByDevice"])
        }
    }

    /// Properties of the manager have changed.
    func tellSubscribers(_ names: [String]) {
        connection.objects.propertiesChanged(
            HandoffNames.brokerPath, ManagerBinding.description.name, names, tell: .subscribers)
    }

    /// What the user has chosen has changed.
    func tellPreferences(_ names: [String]) {
        // The bridge needs them whether or not it has read them.
        connection.objects.propertiesChanged(
            HandoffNames.brokerPath, PreferencesBinding.description.name, names,
            tell: bridge.map { .subscribersAnd($0) } ?? .subscribers)
    }

    /// Tells the bridge alone what the user has chosen.
    func tellBridge(_ names: [String]) {
        guard let bridge else { return }
        connection.objects.propertiesChanged(
            HandoffNames.brokerPath, PreferencesBinding.description.name, names, tell: .only(bridge))
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import HandoffStarting
package import MainLoop
internal import Platform

/// The broker of a session: applications and their activities on one side, offers of peers and their
/// continuation on the other. It makes the parts, and tells them of what concerns several of them.
@MainLoop
package final class Broker {
    let bus: Bus
    var connection: Connection { bus.connection }
    let clock: LoopClock
    let applications: Applications
    let activities: OwnActivities
    let continuations: ContinuationsHere
    let offers: Offers
    private let continued: ContinuedByPeers
    private let peers: Peers
    private let documents: ReceivedDocuments
    private let presence: BridgePresence
    private let news: OfferNews
    private let announcements: Announcements
    private let guards: StreamGuards
    private let parking: Parking
    private let continuing: ContinuingAtOnce
    private let fetchLog: FetchLog
    private let clipboards: Clipboards
    private let phones: Phones
    private let unreadMessages: UnreadMessagesWatch
    let firstReading: FirstReading
    private let policy: BusAccessPolicy

    /// A broker on `bus`, with the switch as it was left.
    /// - Throws: if the settings cannot be read.
    package convenience init(_ bus: Bus) throws {
        try self.init(bus, Preferences(HandoffDirectories.configurationFile), kept: KeptMemory())
    }

    /// A broker on `bus` for a user who has chosen this, and who has documents placed in `documents`.
    init(
        _ bus: Bus, _ preferences: Preferences, _ documents: ReceivedDocuments = ReceivedDocuments(),
        kept: KeptMemory = KeptMemory(nil), clock: LoopClock = .machine
    ) {
        documents.place(in: preferences.documentsFolder)
        let (connection, looks) = (bus.connection, FileLooks())
        let known = KnownPeers(connection)
        let announcements = Announcements(connection: connection, peers: known)
        let applications = Applications(preferences)
        let sharedFolders = KnownFolders(preferences, looks)
        let news = OfferNews(known)
        let activities = OwnActivities(connection, applications, known, news, clock: clock)
        let continued = ContinuedByPeers(activities, looks, documents.memory)
        let continuations = ContinuationsHere(
            ContinuationTools(
                clock: clock, bus: bus, looks: looks, starter: ApplicationStarter(bus, looks),
                sharedFolders: sharedFolders, documents: documents),
            applications, known)
        let offers = Offers(continuations, announcements, kept)
        let fetchLog = FetchLog(announcements, clock: clock)
        let clipboards = Clipboards(
            connection, known, activities, continued, fetchLog, preferences,
            ClipboardFiles(sharedFolders, looks), clock)
        let peers = Peers(connection, known, offers, continued, clipboards) { [unowned offers] in
            PeerObject($0, offers, activities, continued, sharedFolders, fetchLog, clipboards)
        }
        self.clipboards = clipboards
        phones = Phones(connection, activities)
        guards = StreamGuards { owner, change in
            let (id, device) = (owner.continuation, owner.device)
            switch (owner.isOrigin, change) {
            case (true, .opened): continued.streamOpened(id, of: device)
            case (true, .closed): continued.streamClosed(id, of: device)
            case (false, .opened): continuations.streamOpened(id, of: device)
            case (false, .closed): continuations.streamClosed(id)
            }
        }
        firstReading = FirstReading(
            applications, isBridge: { known.isBridge($0) }, next: PeerCalls(peers))
        unreadMessages = UnreadMessagesWatch(bus, applications, known)
        presence = BridgePresence(bus, known)
        policy = BusAccessPolicy(bus: bus)
        (self.bus, self.clock, self.applications, self.activities) = (bus, clock, applications, activities)
        (self.continuations, self.offers, self.continued, self.peers) = (
            continuations, offers, continued, peers
        )
        (self.documents, self.announcements, self.news, self.fetchLog) = (
            documents, announcements, news, fetchLog
        )
        parking = Parking(activities, sharedFolders)
        continuing = ContinuingAtOnce(peers, Listings(peers, clock), clock)
        connect()
    }

    /// Has the parts tell of what concerns others.
    private func connect() {
        activities.onInvalidated = { [continued] in continued.invalidated($0) }
        activities.onOffered = { [continued, phones] in
            continued.offered($0)
            phones.update()
        }
        activities.onLeft = { [announcements] in announcements.tellLeft() }
        applications.onChange = { [offers] in offers.updateHandlers() }
        applications.onInstalled = { [weak self] in self?.installedChanged($0, isWhole: $1) }
        offers.onAsked = { [unreadMessages] in unreadMessages.welcome($0) }
        offers.onChosen = { [weak self] in self?.applicationsChosen() }
        unreadMessages.onNeglect = { [weak self] in self?.forget($0) }
        presence.onPeersLost = { [peers] in peers.removeAll() }
        presence.onChange = { [announcements, news] in
            announcements.tellBridge([
                "Enabled", "DeviceName", "Port", "ShareAddresses", "Introduces", "Park",
                "ExcludedApplications",
            ])
            news.beginAnew()
        }
    }

    /// Exports the objects, so that all of them are there when the bus name is requested.
    package func export() {
        // This comes before the name is requested, since a bridge that sees the name adds its peers at once.
        presence.begin()
        connection.policy = policy
        connection.observer = unreadMessages
        connection.gate = firstReading
        let manager = ManagerObject(self, activities, offers, fetchLog, continuing)
        connection.onRefused = { [known = peers.known, manager] in
            // What the bridge is refused comes from other devices.
            if !known.isBridge($1.name) { manager.refused($0, $1, $2) }
        }
        connection.objects.manage(HandoffNames.brokerPath)
        connection.objects.tellReaders(
            of: PreferencesBinding.description.name, at: HandoffNames.brokerPath)
        connection.objects.export(
            HandoffNames.brokerPath,
            [
                ManagerBinding(manager),
                PreferencesBinding(
                    PreferencesObject(self, applications, offers, documents, announcements, clipboards)),
                ClipboardBinding(
                    ClipboardObject(clipboards, peers) { [unreadMessages] in unreadMessages.welcome($0) }),
                PhonesBinding(PhonesObject(phones)),
                PeerManagerBinding(
                    PeerManagerObject(peers, guards, parking, continuing.listings) { [presence] in
                        presence.attach($0)
                    }),
            ])
        bus.onVanished = { [weak self] in self?.vanished($0) }
        connection.objects.explainAbsence = { [weak self] in self?.explainAbsence(of: $1, to: $0, $2) }
    }

    /// Does what can wait until the name is owned: has the desktop entries read, and asks the
    /// bus to start the bridge. Without a bridge, everything local works.
    package func begin() {
        applications.readInstalled()
        documents.removeAbandoned()
        MainLoop.start { [bus] in
            do {
                try await bus.startService(HandoffNames.bridge)
            } catch {
                brokerLog.debug("No bridge was started: \(DBusError.converting(error).message)")
            }
        }
    }

    /// Leaves nobody waiting and nothing incomplete behind at the end.
    package func settle() async {
        continuations.stop(.ending)
        await documents.settle()
    }

    /// It ends, as if it was killed. What is under way fails, and nothing keeps it any longer.
    package func die() {
        bus.leave()
        connection.closed(DBusError(.disconnected, "The broker has ended."))
        activities.end()
        continuations.end()
        continuing.end()
        peers.end()
    }

    // MARK: Connections

    /// A connection has left the bus.
    private func vanished(_ name: BusName) {
        firstReading.vanished(name)
        forget(name)
        unreadMessages.vanished(name)
        applications.vanished(name.text)
        guards.vanished(name)
    }

    /// Drops everything that belongs to a connection that can no longer be told of anything.
    private func forget(_ name: BusName) {
        continuations.callerVanished(name)
        continuing.vanished(name)
        unregister(name.text, isOnBus: false)
        clipboards.unregister(name)
        phones.vanished(name)
        connection.objects.forget(name)
    }

    /// Why there is nothing at `path` for `caller`, if there is anything to say about that.
    private func explainAbsence(of path: ObjectPath, to caller: Caller, _ member: String) -> DBusError? {
        guard let name = caller.name else { return nil }
        if member == "OpenStream", let text = path.suffix(below: HandoffNames.continuations),
            let id = ContinuationID(String(text)), continuations.endedWithoutStreams(id, of: name.text)
        {
            return HandoffFailure.noStreams(id).dbusError
        }
        if member == "Continue", caller.sandbox == nil,
            let text = path.suffix(below: HandoffNames.remote)?.prefix(while: { $0 != "/" }),
            let device = DeviceID(String(text)), offers.peers.isAway(device)
        {
            let name = offers.peers.name(of: device)
            let failure: HandoffFailure = activities.isEnabled ? .originAway(name) : .disabled
            return failure.dbusError
        }
        guard let ending = applications.registry.ending(of: name.text) else { return nil }
        return .nothing(at: path, ending)
    }

    // MARK: Applications

    /// The applications with desktop entries have changed, and with them what these connections have registered.
    private func installedChanged(_ connections: [String], isWhole: Bool) {
        activities.fileNameTypesChanged()
        for connection in connections { activities.registered(connection) }
        endReplacedAdapters()
        // Which packages the excluded applications are from may be known only now.
        exclude()
        offers.updateHandlers()
        if isWhole { firstReading.end() }
    }

    /// Ends the registrations of adapters whose applications know Handoff themselves, as has turned out, with all that
    /// belongs to them, and tells each adapter so: that is the last thing that it is sent.
    private func endReplacedAdapters() {
        for adapter in applications.registry.replacedAdapters {
            guard let name = try? BusName(adapter.connection) else { continue }
            brokerLog.info("\(name) is an adapter of \(adapter.applicationID) no longer. \(adapter.reason)")
            forget(name)
            applications.ended(adapter.connection, adapter.applicationID, adapter.reason)
            unreadMessages.tellEnd(of: adapter.applicationID, to: name, adapter.reason)
        }
    }
}

extension Broker: SessionEvents {
    func welcome(_ name: BusName) { unreadMessages.welcome(name) }

    func registered(_ connection: String) {
        endReplacedAdapters()
        activities.registered(connection)
        offers.updateHandlers()
        continuations.applicationRegistered()
        if let registration = applications.registration(of: connection), registration.receives {
            continuations.tools.starter.registered(registration.applicationID)
        }
    }

    func unregister(_ connection: String, isOnBus: Bool) {
        let wasRegistered = applications.remove(connection)
        activities.connectionVanished(connection)
        continuations.connectionVanished(connection, isOnBus: isOnBus)
        if wasRegistered { offers.updateHandlers() }
    }

    func applicationsChosen() {
        announcements.tellPreferences(["Applications"])
        offers.updateHandlers()
    }

    func exclude() {
        for id in activities.exclude() { continued.invalidated(id) }
        continuations.exclude()
    }

    func setEnabled(_ isEnabled: Bool, _ call: MethodCall) throws {
        guard isEnabled != activities.isEnabled else { return }
        try applications.preferences.setEnabled(isEnabled)
        brokerLog.message("Handoff is switched \(isEnabled ? "on" : "off") by \(call.caller.label).")
        activities.setEnabled(isEnabled, call)
        call.afterReply { [applications, continuations, continued, announcements, clipboards] in
            applications.setEnabled(isEnabled)
            clipboards.chosen()
            // It is told once the bridge has heard of the withdrawal, so that it can still pass that on.
            MainLoop.start {
                announcements.tellSubscribers(["Enabled"])
                announcements.tellPreferences(["Enabled"])
            }
            guard !isEnabled else { return }
            continuations.stop(.disabled)
            continued.disable()
        }
        offers.setEnabled(isEnabled, call)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop
internal import Platform

/// The activities of this session: which there are, which of them is current, and which is offered to peers.
@MainLoop
final class OwnActivities {
    /// What time it is.
    let clock: LoopClock
    /// Where activities are exported.
    let connection: Connection
    /// Whose they are.
    let applications: Applications
    /// Who may continue them.
    let peers: any PeerDirectory
    private var machine: SessionActivities
    private(set) var objects: [ActivityID: ActivityObject] = [:]
    /// What an author has been told, so that it is said once.
    private var hints: Set<String> = []
    private let news: OfferNews
    private let freedMemory = FreedMemory()
    private lazy var timer = DeadlineTimer(by: clock) { [weak self] in self?.advance() }
    /// This activity has ended.
    var onInvalidated: @MainLoop (ActivityID) -> Void = { _ in }
    /// This is offered now, or nothing is: perhaps still, or again.
    var onOffered: @MainLoop (ActivityID?) -> Void = { _ in }
    /// What was left last is another one.
    var onLeft: @MainLoop () -> Void = {}
    private var toldLeft: ActivityID?

    /// Tells `news` of what is offered.
    init(
        _ connection: Connection, _ applications: Applications, _ peers: any PeerDirectory, _ news: OfferNews,
        clock: LoopClock
    ) {
        (self.connection, self.applications, self.peers) = (connection, applications, peers)
        (self.news, self.clock) = (news, clock)
        machine = SessionActivities(isEnabled: applications.preferences.isEnabled)
    }

    /// The user's switch.
    var isEnabled: Bool { machine.isEnabled }
    /// The current activity of this device.
    var current: ActivityID? { machine.current }
    /// The activity that peers are offered.
    var offered: ActivityID? { machine.offered?.id }

    /// The same at this moment: an expiration date that has just passed counts.
    var offeredNow: ActivityID? {
        advance()
        return offered
    }

    /// What its user has left last, while nothing is current; nil if there is nothing that would be offered.
    var left: Offer? { machine.left }

    /// Whether `device` may fetch this activity at this moment: it is offered, or was listed for it and is open.
    func isOffered(_ id: ActivityID, to device: DeviceID) -> Bool {
        advance()
        return machine.isOffered(id, to: device, isShared: isShared, at: clock.instant)
    }

    /// What is open, as `device` may see it and fetch it for a minute.
    /// - Throws: `Disabled`, or `LimitsExceeded` if it has asked a moment ago.
    func list(for device: DeviceID) throws(HandoffFailure) -> [Offer] {
        advance()
        return try machine.list(for: device, isShared: isShared, at: clock.moment)
    }

    /// `device` is no longer paired.
    func peerRemoved(_ device: DeviceID) { machine.forgetListing(for: device) }

    private var isShared: Bool { applications.preferences.sharesOpenActivities }

    /// How many activities `connection` has.
    func count(of connection: String) -> Int { machine.activities(of: connection).count }

    /// Why the current activity is not offered, and what to do; empty if it is, or if there is none.
    var whyNotOffered: String { machine.whyNotOffered }

    /// These are the activities that peers have fetched and not yet continued.
    func awaited(_ ids: Set<ActivityID>) { machine.awaited(ids) }

    /// What is known of an activity.
    subscript(id: ActivityID) -> SessionActivity? { machine[id] }

    /// The object of an activity on the bus.
    func object(of id: ActivityID) -> ActivityObject? { objects[id] }

    // MARK: Beginning

    /// Takes in an activity.
    /// - Throws: `limitsExceeded` if its connection, its process, or all together have too much.
    func add(_ object: ActivityObject) throws {
        try applications.begin(object.state.size, of: object.owner.text)
        do throws(HandoffFailure) {
            try machine.create(
                object.id, connection: object.owner.text, type: object.type,
                applicationID: object.applicationID, details: object.details)
        } catch {
            applications.end(object.state.size, of: object.owner.text)
            throw error
        }
        objects[object.id] = object
        object.hintAtStreams()
    }

    /// Exports `object`, which has been added.
    func export(_ object: ActivityObject) {
        connection.objects.export(object.path, [ActivityBinding(object)], owner: object.owner)
    }

    /// Logs, once for each type, that a `UserInfo` of `size` bytes is large.
    func hintAtStreams(_ type: ActivityType, _ size: Int) {
        guard isNew(hint: "large \(type)") else { return }
        brokerLog.message(
            "UserInfo of an activity of type \(PeerText.message(type.description)) takes \(size) bytes. Keep it"
                + " under \(UserInfoRules.comfortableSize), and send the bulk through a stream.")
    }

    /// Logs, once for each key, that an application has given an activity something that is no property of it.
    func sayIgnored(_ key: String, applicationID: ApplicationID) {
        let key = PeerText.message(key)
        guard isNew(hint: "key \(key)") else { return }
        brokerLog.warning(
            "\(applicationID) has given an activity “\(key)”, which is not a property of activities and is ignored. Those that"
                + " there are stand in org.example.Handoff.Activity.")
    }

    private func isNew(hint: String) -> Bool { hints.count < 1024 && hints.insert(hint).inserted }

    // MARK: Changing

    /// What peers see of an activity may have changed, and it is its user that has changed it, if `isUsed`. What that causes
    /// follows the reply to `call`, here and below.
    func update(
        _ id: ActivityID, _ details: SessionActivity.Details, isUsed: Bool = false, after call: MethodCall?
    )
        throws
    {
        perform(
            try machine.update(id, details: details, payloadChanged: true, isUsed: isUsed, at: clock.moment),
            after: call)
    }

    /// Its user works with an activity.
    func use(_ id: ActivityID, after call: MethodCall?) throws {
        perform(try machine.use(id, at: clock.moment), after: call)
    }

    func becomeCurrent(_ id: ActivityID, _ call: MethodCall) throws {
        perform(try machine.becomeCurrent(id, at: clock.moment), after: call)
    }

    func resignCurrent(_ id: ActivityID, _ call: MethodCall) throws {
        perform(try machine.resignCurrent(id, at: clock.moment), after: call)
    }

    func leaveCurrent(_ id: ActivityID, _ call: MethodCall) throws {
        perform(try machine.leaveCurrent(id, at: clock.moment), after: call)
    }

    func becomeOpen(_ id: ActivityID, _ call: MethodCall) throws {
        perform(try machine.becomeOpen(id, at: clock.moment), after: call)
    }

    func invalidate(_ id: ActivityID, _ call: MethodCall) throws {
        perform(try machine.invalidate(id, at: clock.moment), after: call)
    }

    /// The user has switched Handoff on or off.
    func setEnabled(_ isEnabled: Bool, _ call: MethodCall) {
        perform(machine.setEnabled(isEnabled, at: clock.moment), after: call)
    }

    /// `connection` has left, or is not registered any more.
    func connectionVanished(_ connection: String) {
        perform(machine.connectionVanished(connection, at: clock.moment))
    }

    /// `connection` has registered, perhaps not for the first time: its activities belong to its team now.
    func registered(_ connection: String) {
        for activity in machine.activities(of: connection) { objects[activity.id]?.registrationChanged() }
    }

    /// Which applications the user excludes has changed.
    /// - Returns: the activities that nothing of is to go to peers now.
    func exclude() -> [ActivityID] {
        for object in objects.values { object.registrationChanged() }
        return objects.values.filter(\.isExcluded).map(\.id)
    }

    /// Other names of documents may stand for other types than before.
    func fileNameTypesChanged() {
        if let current { objects[current]?.fileNameTypesChanged() }
    }

    /// The broker has ended, and nothing is told of them any more.
    func end() {
        for object in objects.values { object.invalidate() }
        objects = [:]
    }

    // MARK: Sleep

    /// The machine is about to sleep: what is offered is left with peers.
    /// - Returns: what peers are to have of it; nil if nothing is offered.
    func park() -> Offer? {
        let (offer, actions) = machine.park(at: clock.moment)
        perform(actions)
        return offer
    }

    /// What is open beside what is current, and may go to peers; the latest used first.
    var openAside: [ActivityID] {
        advance()
        return isShared ? machine.openAside : []
    }

    /// What is open beside what is current is left with peers.
    /// - Returns: what they are to have of it; nil if it is not open any more.
    func parkAside(_ id: ActivityID) -> Offer? { machine.parkAside(id) }

    /// A peer has continued what was left with it.
    /// - Returns: whether that is news.
    /// - Throws: `unknownObject` if it was never left with anybody.
    func continuedParked(
        _ id: ActivityID, _ continuation: ContinuationID, revision: UInt64, _ call: MethodCall
    ) throws -> Bool {
        let (isNews, actions) = try machine.continuedParked(
            id, continuation, revision: revision, at: clock.moment)
        perform(actions, after: call)
        return isNews
    }

    // MARK: Actions

    private func advance() { perform(machine.advance(to: clock.moment)) }

    private func perform(_ actions: [SessionActivities.Action], after call: MethodCall?) {
        MethodCall.after(call) { [weak self] in self?.perform(actions) }
    }

    private func perform(_ actions: [SessionActivities.Action]) {
        for action in actions {
            switch action {
            case .offer(let offer): news.tell(offer)
            case .withdraw(let id): news.tellEnd(of: id)
            case .currentChanged(let id, let isCurrent): objects[id]?.currentChanged(isCurrent)
            case .invalidated(let id):
                guard let object = objects.removeValue(forKey: id) else { continue }
                connection.objects.unexport(object.path)
                object.invalidate()
                applications.end(object.state.size, of: object.owner.text)
                freedMemory.freed(object.state.size)
                onInvalidated(id)
            }
        }
        onOffered(offered)
        let left = machine.left?.id
        if left != toldLeft {
            toldLeft = left
            onLeft()
        }
        timer.set(machine.nextDeadline?.microseconds)
    }
}

extension MethodCall {
    /// Does something once `call` has been answered, or at once if there is no call.
    static func after(_ call: MethodCall?, _ effect: @escaping @MainLoop () -> Void) {
        if let call { call.afterReply(effect) } else { effect() }
    }
}

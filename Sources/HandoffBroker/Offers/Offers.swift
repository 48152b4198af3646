// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop
internal import Platform

/// What peers offer, and which of it is shown.
@MainLoop
final class Offers {
    /// Who offers it.
    let peers: KnownPeers
    /// What is continued here.
    let continuations: ContinuationsHere
    private let announcements: Announcements
    private let memory: KeptMemory
    private var machine: RemoteOffers {
        didSet { timer.set(machine.nextDeadline?.microseconds) }
    }
    private var shown: [RemoteActivityKey: RemoteActivityObject] = [:]
    /// What peers have left here.
    private var left: [DeviceID: ParkedActivity] = [:]
    private lazy var timer = DeadlineTimer(by: clock) { [weak self] in
        guard let self else { return }
        perform(machine.advance(to: clock.instant))
    }
    /// This connection has asked to continue something, and wants to be told of the outcome.
    var onAsked: @MainLoop (BusName) -> Void = { _ in }
    /// The user has chosen other applications for types of activities.
    var onChosen: @MainLoop () -> Void = {}

    private var applications: Applications { continuations.applications }
    private var clock: LoopClock { continuations.tools.clock }

    /// Nothing is offered.
    init(
        _ continuations: ContinuationsHere, _ announcements: Announcements, _ memory: KeptMemory
    ) {
        self.memory = memory
        (self.continuations, self.announcements, peers) = (continuations, announcements, announcements.peers)
        let preferences = continuations.applications.preferences
        machine = RemoteOffers(isEnabled: preferences.isEnabled, showsUnhandled: preferences.showsUnhandled)
        memory.read { [weak self] entries in
            guard let self else { return }
            let known = machine.entries.map { RemoteActivityKey($0.device, $0.offer.id) }
            perform(machine.remember(entries))
            for key in known where machine.kept.isSettled(key.activity, of: key.device) { tellSettled(key) }
        }
    }

    /// What `device` offers for all, shown or not; nil if that is nothing.
    func offer(of device: DeviceID) -> Offer? { machine.offer(of: device) }

    /// What `device` offers under this id, shown or not; nil if that is nothing.
    func offer(_ id: ActivityID, of device: DeviceID) -> Offer? { machine.offer(id, of: device) }

    /// - Throws: `InvalidArgs` if `device` offers `id` elsewhere than `isKept` says; `Cancelled` if it was kept for this
    ///   device, and has been continued or put aside here.
    func checkPlace(of id: ActivityID, isKept: Bool, by device: DeviceID) throws(HandoffFailure) {
        if let known = machine.isKept(id, of: device), known != isKept {
            throw HandoffFailure(
                .invalidArguments,
                "Activity \(id) is offered already, and Kept differs. Offer another activity.")
        }
        guard isKept, machine.kept.isSettled(id, of: device) else { return }
        throw HandoffFailure(
            .cancelled,
            "Activity \(id) has been continued here, or put aside. It need not be offered again.")
    }

    /// - Throws: `InvalidArgs` if `device` offers this as another type or of another application already.
    func checkSame(_ offer: Offer, by device: DeviceID) throws(HandoffFailure) {
        guard let former = self.offer(offer.id, of: device),
            former.type != offer.type || former.applicationID != offer.applicationID
        else { return }
        throw HandoffFailure(
            .invalidArguments,
            "ActivityType and ApplicationId of activity \(offer.id) cannot change. Offer another activity.")
    }

    /// What is not shown, and why.
    var hidden: [RemoteOffers.Hidden] { machine.hidden }

    /// What is to continue an offer: this application, or else the best one.
    /// - Throws: why nothing can.
    func target(
        for key: RemoteActivityKey, application: ApplicationID?
    ) throws(HandoffFailure) -> RemoteOffers.Target {
        try machine.target(for: key.activity, of: key.device, application: application)
    }

    // MARK: Peers

    /// `device` offers this now: in place of what it has offered for all, or beside it, since it has kept it for this device.
    func offered(_ offer: Offer, by device: DeviceID, parkedAt: Int64 = 0, keptOf origin: ActivityID? = nil) {
        if origin == nil, let former = self.offer(of: device), former.id != offer.id,
            !machine.isListed(former.id, of: device)
        {
            continuations.withdrawn(former.id, by: device)
        }
        continuations.offered(offer, by: device)
        perform(
            machine.offer(
                offer, from: device, handlers: applications.handlers(for: offer),
                keptOut: applications.keptOut(from: offer), parkedAt: parkedAt, keptOf: origin))
    }

    /// `device` has left this here, as `payload` has it, at `time`, because it is about to sleep.
    /// - Throws: what rule was broken, or that the two do not agree.
    func parked(_ offer: Offer, _ payload: PackedProperties, at time: Int64, by device: DeviceID) throws {
        try ParkedActivity.check(payload, offer)
        if let former = self.offer(of: device), former.id == offer.id, former.revision > offer.revision {
            throw HandoffFailure(
                .invalidArguments,
                "Revision \(offer.revision) of activity \(offer.id) is older than what is offered, \(former.revision)."
                    + " Leave the latest state.")
        }
        left[device] = ParkedActivity(id: offer.id, payload: payload)
        offered(offer, by: device, parkedAt: time)
    }

    /// `device` has listed this for the user here, the latest used first.
    /// - Returns: where each is on the bus.
    /// - Throws: `InvalidArgs` if one was told of before as something else.
    func listed(_ listed: [OfferSummary.Decoded], by device: DeviceID) throws(HandoffFailure) -> [ObjectPath]
    {
        for one in listed { try checkSame(one.offer, by: device) }
        perform(
            machine.list(
                listed.map {
                    RemoteOffers.Listed(
                        offer: $0.offer, handlers: applications.handlers(for: $0.offer),
                        keptOut: applications.keptOut(from: $0.offer), parkedAt: $0.parkedAt)
                }, from: device, at: clock.instant))
        return listed.compactMap { shown[RemoteActivityKey(device, $0.offer.id)]?.path }
    }

    /// There is a link to `device`: it says itself what is open there.
    func awake(_ device: DeviceID) { perform(machine.awake(device)) }

    /// What is shown at this path; nil if nothing is.
    func object(at path: ObjectPath) -> RemoteActivityObject? {
        RemoteActivityKey(path).flatMap { shown[$0] }
    }

    /// What was left here of an offer; nil if nothing was.
    func parked(_ key: RemoteActivityKey) -> ParkedActivity? {
        left[key.device].flatMap { $0.id == key.activity ? $0 : nil }
    }

    /// `device` no longer offers this activity.
    func withdraw(_ id: ActivityID, from device: DeviceID) {
        // What was listed may be open still, which its device says when it is fetched.
        if !machine.isListed(id, of: device) { continuations.withdrawn(id, by: device) }
        perform(machine.withdraw(id, from: device))
    }

    /// What `device` offers, if anything, counts as withdrawn.
    func withdrawAll(from device: DeviceID) {
        for offer in machine.offers(of: device) { withdraw(offer.id, from: device) }
    }

    /// The user of `device` has sent this activity here. Nothing happens unless it is what that device offers.
    func invited(to id: ActivityID, by device: DeviceID) {
        do {
            perform(try machine.invite(id, from: device, at: clock.moment))
            if machine.isKept(id, of: device) == true { memory.keep(machine.kept.entries) }
        } catch {
            brokerLog.debug("\(peers.name(of: device)) has sent what it offers no longer: \(error.message)")
        }
    }

    /// The next invitation of `device` came to this machine at `time`, in microseconds since the Unix epoch.
    func willInvite(_ device: DeviceID, at time: Int64) { machine.willInvite(from: time, by: device) }

    /// The name or type of a peer may have changed, and whether it is muted.
    func peerChanged(_ device: DeviceID, isMuted: Bool) {
        perform(machine.setMuted(isMuted, device))
        for object in shown.values where object.key.device == device { object.deviceChanged() }
        if machine.hidden.contains(where: { $0.device == device }) { tellHidden() }
    }

    /// `device` is no longer paired.
    func peerRemoved(_ device: DeviceID) {
        perform(machine.peerRemoved(device))
        continuations.peerRemoved(device)
    }

    /// The bridge is gone, and with it all that was known of peers.
    func allPeersRemoved() {
        perform(machine.allPeersRemoved())
        continuations.allLinksLost()
    }

    // MARK: The user

    /// The user does not want to see it any more. What that causes follows the reply to `call`, here and below.
    func dismiss(_ key: RemoteActivityKey, _ call: MethodCall) throws(HandoffFailure) {
        let isKept = machine.isKept(key.activity, of: key.device) == true
        perform(try machine.dismiss(key.activity, of: key.device), after: call)
        guard isKept else { return }
        memory.keep(machine.kept.entries)
        call.afterReply { [weak self] in self?.tellSettled(key) }
    }

    /// Tells the device that this need not wait any more.
    private func tellSettled(_ key: RemoteActivityKey) {
        MainLoop.start { [peers] in
            // Who does not hear it now hears it when it offers that again.
            try? await peers.bridgePeer(key.device).dismissed(activity: key.activity.description)
        }
    }

    /// The user has switched Handoff on or off.
    func setEnabled(_ isEnabled: Bool, _ call: MethodCall) {
        perform(machine.setEnabled(isEnabled), after: call)
    }

    /// The user wants to see, or not, what nothing here can continue.
    func setShowsUnhandled(_ shows: Bool, _ call: MethodCall) {
        perform(machine.setShowsUnhandled(shows), after: call)
    }

    /// The applications have changed: who can continue what is looked up again.
    func updateHandlers() {
        perform(
            machine.updateHandlers { [applications] in
                applications.handlers(for: $0)
            } keptOut: { [applications] in
                applications.keptOut(from: $0)
            })
        // Some may have begun or ceased to run.
        for object in shown.values { object.applicationsChanged() }
    }

    /// The broker has ended, and nothing is told of them any more.
    func end() { shown = [:] }

    // MARK: Actions

    private func perform(_ actions: [RemoteOffers.Action], after call: MethodCall) {
        call.afterReply { [weak self] in self?.perform(actions) }
    }

    private func perform(_ actions: [RemoteOffers.Action]) {
        left = left.filter { machine.isParked($0.value.id, of: $0.key) }
        for action in actions {
            switch action {
            case .added(let entry): show(entry)
            case .changed(let entry):
                guard let object = shown[RemoteActivityKey(entry.device, entry.offer.id)] else { continue }
                let wasListed = object.listed
                object.update(entry)
                if object.listed != wasListed { export(object) }
            case .removed(let device, let id):
                guard let object = shown.removeValue(forKey: RemoteActivityKey(device, id)) else { continue }
                continuations.connection.objects.unexport(object.path)
            case .hiddenChanged: tellHidden()
            }
        }
    }

    private func tellHidden() { announcements.tellSubscribers(["HiddenOffers"]) }

    private func show(_ entry: RemoteOffers.Entry) {
        guard let object = try? RemoteActivityObject(entry, among: self, continuations) else { return }
        shown[object.key] = object
        export(object)
        brokerLog.debug(
            "\(peers.name(of: entry.device)) offers \(PeerText.message(object.activityType)) \(entry.offer.id)."
        )
    }
}

extension Offers {
    /// What is listed for whoever has asked for it is told nobody else.
    private func export(_ object: RemoteActivityObject) {
        continuations.connection.objects.export(
            object.path, [RemoteActivityBinding(object)], isListed: !object.listed)
    }
}

// MARK: What was continued without its device

extension Offers {
    /// Tells `device`, if there is a link to it, what of what it had left here was continued.
    func tellContinuedParked(to device: DeviceID) {
        for entry in machine.untold(by: device, at: clock.instant) { tell(entry) }
    }

    private func tell(_ entry: ParkedContinuations.Entry) {
        MainLoop.start { [self] in
            do {
                try await peers.bridgePeer(entry.device).continuedParked(
                    activity: entry.activity.description, continuation: entry.continuation.description,
                    revision: entry.revision)
            } catch {
                let failure = HandoffFailure(routed: error)
                // It is said again on the next link. One that does not know of it never will.
                if ![.unknownObject, .notPaired, .invalidArguments, .notSupported].contains(failure.code) {
                    return
                }
                brokerLog.debug("ContinuedParked of \(entry.activity): \(failure.message)")
            }
            perform(machine.settled(entry))
        }
    }
}

extension Offers: ContinuedOffers {
    func continuedParked(_ key: RemoteActivityKey, _ id: ContinuationID, revision: UInt64) {
        let entry = ParkedContinuations.Entry(
            device: key.device, activity: key.activity, continuation: id, revision: revision)
        perform(machine.continuedParked(entry, at: clock.instant))
        // The bridge forgets what was left here, whether or not its device can be told now.
        tell(entry)
    }

    func continuedUnheard(_ key: RemoteActivityKey) {
        if machine.kept.isSettled(key.activity, of: key.device) { tellSettled(key) }
    }

    func continued(_ key: RemoteActivityKey) {
        guard machine.isKept(key.activity, of: key.device) == true else { return }
        perform(machine.settled(key.activity, of: key.device))
        memory.keep(machine.kept.entries)
    }

    func beginContinuing(_ key: RemoteActivityKey) {
        _ = machine.setContinuing(true, key.activity, of: key.device)
    }

    func show(_ key: RemoteActivityKey) {
        if let entry = machine.entry(key.activity, of: key.device) { perform([.changed(entry)]) }
    }

    func endContinuing(_ key: RemoteActivityKey) {
        perform(machine.setContinuing(false, key.activity, of: key.device))
    }

    func setProgress(_ progress: Double, _ key: RemoteActivityKey) { shown[key]?.setProgress(progress) }
    func setShownByApplication(_ key: RemoteActivityKey) { shown[key]?.setShownByApplication() }
}

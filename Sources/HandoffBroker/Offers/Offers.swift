// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop
internal import Platform

/// Identifies an offer: the device and the activity.
struct RemoteActivityKey: Hashable {
    let device: DeviceID
    let activity: ActivityID

    init(_ device: DeviceID, _ activity: ActivityID) {
        self.device = device
        self.activity = activity
    }
}

/// What peers offer, and which of it is shown.
@MainLoop
final class Offers {
    /// Who offers it.
    let peers: KnownPeers
    /// What is continued here.
    let continuations: ContinuationsHere
    private let announcements: Announcements
    private var machine: RemoteOffers {
        didSet { timer.set(machine.nextDeadline?.microseconds) }
    }
    private var shown: [RemoteActivityKey: RemoteActivityObject] = [:]
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
    init(_ continuations: ContinuationsHere, _ announcements: Announcements) {
        (self.continuations, self.announcements, peers) = (continuations, announcements, announcements.peers)
        let preferences = continuations.applications.preferences
        machine = RemoteOffers(isEnabled: preferences.isEnabled, showsUnhandled: preferences.showsUnhandled)
    }

    /// What `device` offers, shown or not; nil if that is nothing.
    func offer(of device: DeviceID) -> Offer? { machine.offers[device] }

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

    /// `device` offers this now, in place of anything else.
    func offered(_ offer: Offer, by device: DeviceID) {
        continuations.offered(offer, by: device)
        perform(
            machine.offer(
                offer, from: device, handlers: applications.handlers(for: offer),
                keptOut: applications.keptOut(from: offer)))
    }

    /// `device` no longer offers this activity.
    func withdraw(_ id: ActivityID, from device: DeviceID) {
        continuations.withdrawn(id, by: device)
        perform(machine.withdraw(id, from: device))
    }

    /// What `device` offers, if anything, counts as withdrawn.
    func withdrawAll(from device: DeviceID) {
        if let offer = offer(of: device) { withdraw(offer.id, from: device) }
    }

    /// The user of `device` has sent this activity here. Nothing happens unless it is what that device offers.
    func invited(to id: ActivityID, by device: DeviceID) {
        do {
            perform(try machine.invite(id, from: device, at: clock.moment))
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
        perform(try machine.dismiss(key.activity, of: key.device), after: call)
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
        for action in actions {
            switch action {
            case .added(let entry): show(entry)
            case .changed(let entry):
                shown[RemoteActivityKey(entry.device, entry.offer.id)]?.update(entry)
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
        continuations.connection.objects.export(object.path, [RemoteActivityBinding(object)])
        brokerLog.debug(
            "\(peers.name(of: entry.device)) offers \(PeerText.message(object.activityType)) \(entry.offer.id)."
        )
    }
}

extension Offers: ContinuedOffers {
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

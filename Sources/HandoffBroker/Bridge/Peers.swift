// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop
internal import Platform

/// What the peers need from the session.
@MainLoop
protocol PeersOwner: AnyObject {
    /// What time it is.
    var clock: LoopClock { get }
    /// Where the objects of peers and their offers are exported.
    var connection: Connection { get }
    /// What can continue `offer` here, best first.
    func handlers(for offer: Offer) -> [Handler]
    /// What could continue it here if the user had not excluded it.
    func keptOut(from offer: Offer) -> KeptOut
    /// What peers offer.
    var remoteOffers: RemoteOffers { get set }
    /// What peers continue.
    var origin: OriginContinuations { get set }
    /// What is continued here.
    var runners: [ContinuationID: ContinuationRunner] { get }
    /// What the origins of continuations have to be told.
    var pendingReleases: PendingReleases { get }
    /// Draws the consequences of what has ended.
    func perform(_ actions: [OriginContinuations.Action])
    /// Properties of the manager have changed.
    func tellSubscribers(_ names: [String])
    /// What `device` calls.
    func peerObject(for device: DeviceID) -> PeerObject
    /// The offer on the bus.
    func remoteActivityObject(for entry: RemoteOffers.Entry) throws -> RemoteActivityObject
}

extension Broker: PeersOwner {
    func peerObject(for device: DeviceID) -> PeerObject { PeerObject(device, self) }

    func remoteActivityObject(for entry: RemoteOffers.Entry) throws -> RemoteActivityObject {
        try RemoteActivityObject(entry, self)
    }
}

/// The paired devices that the bridge has reported, and those of their offers that are shown.
@MainLoop
final class Peers {
    private unowned let owner: any PeersOwner
    private var objects: [DeviceID: PeerObject] = [:]
    private var names = PeerNames()
    private var types: [DeviceID: String] = [:]
    private var shown: [RemoteActivityKey: RemoteActivityObject] = [:]

    /// How many peers there may be.
    static let maximum = Quota.peers

    init(_ owner: any PeersOwner) { self.owner = owner }

    /// What `device` is shown as.
    func name(of device: DeviceID) -> String {
        names.name(of: device) ?? String(device.description.prefix(8))
    }

    /// What kind of device it is, empty if that is not known.
    func type(of device: DeviceID) -> String { types[device] ?? "" }

    /// Whether `device` is a peer.
    func contains(_ device: DeviceID) -> Bool { objects[device] != nil }

    /// Adds a peer, or replaces what is known about it. ``added(_:isConnected:isMuted:)`` is to follow.
    func add(_ device: DeviceID, name: String, type: String) throws -> ObjectPath {
        let path = try HandoffNames.peers.appending(device.description)
        let isNew = objects[device] == nil
        guard !isNew || objects.count < Self.maximum else {
            throw HandoffFailure(
                .limitsExceeded, "There are \(Self.maximum) peers already. Unpair one that is no longer used."
            )
        }
        _ = names.name(device, name)
        types[device] = PeerText.name(type)
        if isNew {
            let object = owner.peerObject(for: device)
            objects[device] = object
            owner.connection.objects.export(path, [PeerBinding(object)], access: .bridge, isListed: false)
            brokerLog.debug("Peer \(self.name(of: device)) (\(device)) is added.")
        }
        return path
    }

    /// Draws the consequences of adding a peer: there is a link with it, or a new one, or none; and what it sends is
    /// shown as sent, unless it is muted.
    func added(_ device: DeviceID, isConnected: Bool, isMuted: Bool) {
        perform(owner.remoteOffers.setMuted(isMuted, device))
        for object in shown.values where object.key.device == device { object.deviceChanged() }
        if owner.remoteOffers.hidden.contains(where: { $0.device == device }) {
            owner.tellSubscribers(["HiddenOffers"])
        }
        guard isConnected else {
            owner.origin.linkLost(to: device, at: owner.clock.instant)
            for runner in owner.runners.values where runner.device == device { runner.linkLost() }
            return
        }
        owner.pendingReleases.linkRestored(to: device)
        owner.origin.linkRestored(to: device)
        for runner in owner.runners.values where runner.device == device { runner.linkRestored() }
    }

    /// The device is no longer paired.
    func remove(_ device: DeviceID) {
        guard forget(device) else { return }
        brokerLog.debug("Peer \(device) is removed.")
        owner.pendingReleases.forget(device)
        perform(owner.remoteOffers.peerRemoved(device))
        for runner in owner.runners.values where runner.device == device { runner.offerWithdrawn() }
        owner.perform(owner.origin.peerRemoved(device))
    }

    /// The bridge is gone, and with it all that was known of peers; but what is being continued may still
    /// continue with the next bridge.
    func removeAll() {
        for device in objects.keys { forget(device) }
        perform(owner.remoteOffers.allPeersRemoved())
        owner.origin.allLinksLost(at: owner.clock.instant)
        for runner in owner.runners.values { runner.linkLost() }
    }

    /// Nothing is told of them any more.
    func end() { (objects, shown) = ([:], [:]) }

    @discardableResult
    private func forget(_ device: DeviceID) -> Bool {
        guard objects.removeValue(forKey: device) != nil else { return false }
        if let path = try? HandoffNames.peers.appending(device.description) {
            owner.connection.objects.unexport(path)
        }
        names.remove(device)
        types[device] = nil
        return true
    }

    // MARK: Offers

    /// `device` no longer offers this activity.
    func withdraw(_ id: ActivityID, from device: DeviceID) {
        for runner in owner.runners.values where runner.device == device && runner.offeredActivity == id {
            runner.offerWithdrawn()
        }
        perform(owner.remoteOffers.withdraw(id, from: device))
    }

    /// `device` offers this now, in place of anything else.
    func offered(_ offer: Offer, by device: DeviceID) {
        for runner in owner.runners.values where runner.device == device {
            if runner.offeredActivity == offer.id {
                runner.offerRevised(to: offer.revision)
            } else {
                runner.offerWithdrawn()
            }
        }
        perform(
            owner.remoteOffers.offer(
                offer, from: device, handlers: owner.handlers(for: offer), keptOut: owner.keptOut(from: offer)
            ))
    }

    /// The user of `device` has sent this activity here. Nothing happens unless it is what that device offers.
    func invited(to id: ActivityID, by device: DeviceID) {
        do {
            perform(try owner.remoteOffers.invite(id, from: device, at: owner.clock.moment))
        } catch {
            brokerLog.debug("\(name(of: device)) has sent what it offers no longer: \(error.message)")
        }
    }

    /// The next invitation of `device`, if that is a peer, came to this machine at `time`, in microseconds since the Unix
    /// epoch.
    func willInvite(_ device: DeviceID, at time: Int64) {
        if contains(device) { owner.remoteOffers.willInvite(from: time, by: device) }
    }

    func perform(_ actions: [RemoteOffers.Action]) {
        for action in actions {
            switch action {
            case .added(let entry): show(entry)
            case .changed(let entry):
                shown[RemoteActivityKey(entry.device, entry.offer.id)]?.update(entry)
            case .removed(let device, let id):
                guard let object = shown.removeValue(forKey: RemoteActivityKey(device, id)) else { continue }
                owner.connection.objects.unexport(object.path)
            case .hiddenChanged: owner.tellSubscribers(["HiddenOffers"])
            }
        }
    }

    /// The continuation of an offer has come so far, from 0 to 1; -1 if that is not known.
    func setProgress(_ progress: Double, _ key: RemoteActivityKey) { shown[key]?.setProgress(progress) }

    /// The application that continues the offer shows that by itself.
    func setShownByApplication(_ key: RemoteActivityKey) { shown[key]?.setShownByApplication() }

    /// Applications may have begun or ceased to run.
    func applicationsChanged() {
        for object in shown.values { object.applicationsChanged() }
    }

    private func show(_ entry: RemoteOffers.Entry) {
        guard let object = try? owner.remoteActivityObject(for: entry) else { return }
        shown[object.key] = object
        owner.connection.objects.export(object.path, [RemoteActivityBinding(object)])
        brokerLog.debug(
            "\(name(of: entry.device)) offers \(PeerText.message(object.activityType)) \(entry.offer.id).")
    }
}

/// Identifies an offer: the device and the activity.
struct RemoteActivityKey: Hashable {
    let device: DeviceID
    let activity: ActivityID

    init(_ device: DeviceID, _ activity: ActivityID) {
        self.device = device
        self.activity = activity
    }
}

/// `org.example.Handoff.PeerManager`: how the bridge reports which peers there are.
@MainLoop
final class PeerManagerObject: PeerManagerServer {
    private unowned let peers: Peers
    private unowned let guards: StreamGuards
    private let attach: @MainLoop (AttachedSocket) -> Void

    /// `attach` is given each socket to the bridge, once the bridge has been sent its end.
    init(_ peers: Peers, _ guards: StreamGuards, attach: @escaping @MainLoop (AttachedSocket) -> Void) {
        self.peers = peers
        self.guards = guards
        self.attach = attach
    }

    func attach(_ call: MethodCall) throws -> FileDescriptor {
        guard let bridge = call.caller.name, !call.message.isAttached else {
            throw DBusError.accessDenied("The bridge attaches by the bus. Call this there.")
        }
        let pair = try FileDescriptor.socketPair()
        let socket = AttachedSocket(pair.ours, to: bridge)
        // The reply itself goes by the bus.
        call.afterReply { [attach] in attach(socket) }
        return pair.theirs
    }

    func addPeer(deviceId: String, properties: [String: Value], _ call: MethodCall) throws -> ObjectPath {
        let name = try properties["Name"].map { try ActivityState.string($0, "Name") } ?? ""
        let type = try properties["Type"].map { try ActivityState.string($0, "Type") } ?? ""
        let isConnected =
            try properties["Connected"].map { try ActivityState.boolean($0, "Connected") } ?? true
        let isMuted = try properties["Muted"].map { try ActivityState.boolean($0, "Muted") } ?? false
        let device = try DeviceID(checking: deviceId)
        let path = try peers.add(device, name: name, type: type)
        call.afterReply { [weak peers] in
            peers?.added(device, isConnected: isConnected, isMuted: isMuted)
        }
        return path
    }

    func willInvite(deviceId: String, invitedAt: Int64, _ call: MethodCall) throws {
        let device = try DeviceID(checking: deviceId)
        guard invitedAt > 0 else {
            throw HandoffFailure(
                .invalidArguments,
                "invited_at is \(invitedAt). Give the microseconds since the Unix epoch, more than 0.")
        }
        peers.willInvite(device, at: invitedAt)
    }

    func removePeer(deviceId: String, _ call: MethodCall) throws {
        let device = try DeviceID(checking: deviceId)
        call.afterReply { [weak peers] in peers?.remove(device) }
    }

    func streamOpened(
        number: UInt32, deviceId: String, continuation: String, isOrigin: Bool,
        bridgeEnd: consuming FileDescriptor,
        _ call: MethodCall
    ) throws {
        let owner = StreamGuards.Owner(
            device: try DeviceID(checking: deviceId),
            continuation: try ContinuationID(checking: continuation),
            isOrigin: isOrigin)
        try guards.add(number, owner, bridgeEnd, call.caller)
    }

    func streamClosed(number: UInt32, _ call: MethodCall) throws {
        guards.remove(number, call.caller)
    }
}

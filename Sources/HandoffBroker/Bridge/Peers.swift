// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffDaemon
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The paired devices that the bridge has reported, and those of their offers that are shown.
@MainLoop
final class Peers {
    private unowned let broker: Broker
    private var objects: [DeviceID: PeerObject] = [:]
    private var names = PeerNames()
    private var types: [DeviceID: String] = [:]
    private var shown: [RemoteActivityKey: RemoteActivityObject] = [:]

    /// How many peers there may be.
    static let maximum = Quota.peers

    init(_ broker: Broker) { self.broker = broker }

    /// What `device` is shown as.
    func name(of device: DeviceID) -> String {
        names.name(of: device) ?? String(device.description.prefix(8))
    }

    /// What kind of device it is, empty if that is not known.
    func type(of device: DeviceID) -> String { types[device] ?? "" }

    /// Whether `device` is a peer.
    func contains(_ device: DeviceID) -> Bool { objects[device] != nil }

    /// Adds a peer, or replaces what is known about it. ``added(_:isConnected:)`` is to follow.
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
            let object = PeerObject(device, broker)
            objects[device] = object
            broker.connection.objects.export(path, [PeerBinding(object)], access: .bridge, isListed: false)
            brokerLog.debug("Peer \(self.name(of: device)) (\(device)) is added.")
        }
        return path
    }

    /// Draws the consequences of adding a peer: there is a link with it, or a new one, or none.
    func added(_ device: DeviceID, isConnected: Bool) {
        for object in shown.values where object.key.device == device { object.deviceChanged() }
        if broker.remoteOffers.hidden.contains(where: { $0.device == device }) {
            broker.tellSubscribers(["HiddenOffers"])
        }
        guard isConnected else {
            broker.origin.linkLost(to: device, at: .now)
            for runner in broker.runners.values where runner.device == device { runner.linkLost() }
            return
        }
        broker.pendingReleases.linkRestored(to: device)
        broker.origin.linkRestored(to: device)
        for runner in broker.runners.values where runner.device == device { runner.linkRestored() }
    }

    /// The device is no longer paired.
    func remove(_ device: DeviceID) {
        guard forget(device) else { return }
        brokerLog.debug("Peer \(device) is removed.")
        broker.pendingReleases.forget(device)
        perform(broker.remoteOffers.peerRemoved(device))
        for runner in broker.runners.values where runner.device == device { runner.offerWithdrawn() }
        broker.perform(broker.origin.peerRemoved(device))
    }

    /// The bridge is gone, and with it all that was known of peers; but what is being continued may still
    /// continue with the next bridge.
    func removeAll() {
        for device in objects.keys { forget(device) }
        perform(broker.remoteOffers.allPeersRemoved())
        broker.origin.allLinksLost(at: .now)
        for runner in broker.runners.values { runner.linkLost() }
    }

    @discardableResult
    private func forget(_ device: DeviceID) -> Bool {
        guard objects.removeValue(forKey: device) != nil else { return false }
        if let path = try? HandoffNames.peers.appending(device.description) {
            broker.connection.objects.unexport(path)
        }
        names.remove(device)
        types[device] = nil
        return true
    }

    // MARK: Offers

    /// `device` no longer offers this activity.
    func withdraw(_ id: ActivityID, from device: DeviceID) {
        for runner in broker.runners.values where runner.device == device && runner.offeredActivity == id {
            runner.offerWithdrawn()
        }
        perform(broker.remoteOffers.withdraw(id, from: device))
    }

    func perform(_ actions: [RemoteOffers.Action]) {
        for action in actions {
            switch action {
            case .added(let entry): show(entry)
            case .changed(let entry):
                shown[RemoteActivityKey(entry.device, entry.offer.id)]?.update(entry)
            case .removed(let device, let id):
                guard let object = shown.removeValue(forKey: RemoteActivityKey(device, id)) else { continue }
                broker.connection.objects.unexport(object.path)
            case .hiddenChanged: broker.tellSubscribers(["HiddenOffers"])
            }
        }
    }

    private func show(_ entry: RemoteOffers.Entry) {
        guard let object = try? RemoteActivityObject(entry, broker) else { return }
        shown[object.key] = object
        broker.connection.objects.export(object.path, [RemoteActivityBinding(object)])
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
    private unowned let broker: Broker

    init(_ broker: Broker) { self.broker = broker }

    func addPeer(deviceId: String, properties: [String: Value], _ call: MethodCall) async throws -> ObjectPath
    {
        let name = try properties["Name"].map { try ActivityState.string($0, "Name") } ?? ""
        let type = try properties["Type"].map { try ActivityState.string($0, "Type") } ?? ""
        let isConnected =
            try properties["Connected"].map { try ActivityState.boolean($0, "Connected") } ?? true
        let device = try DeviceID(checking: deviceId)
        let path = try broker.peers.add(device, name: name, type: type)
        call.afterReply { [weak broker] in broker?.peers.added(device, isConnected: isConnected) }
        return path
    }

    func removePeer(deviceId: String, _ call: MethodCall) async throws {
        let device = try DeviceID(checking: deviceId)
        call.afterReply { [weak broker] in broker?.peers.remove(device) }
    }

    func streamOpened(
        number: UInt32, deviceId: String, continuation: String, isOrigin: Bool,
        bridgeEnd: consuming FileDescriptor,
        _ call: MethodCall
    ) async throws {
        let owner = StreamGuards.Owner(
            device: try DeviceID(checking: deviceId),
            continuation: try ContinuationID(checking: continuation),
            isOrigin: isOrigin)
        try broker.guards.add(number, owner, bridgeEnd, call.caller)
    }

    func streamClosed(number: UInt32, _ call: MethodCall) async throws {
        broker.guards.remove(number, call.caller)
    }
}

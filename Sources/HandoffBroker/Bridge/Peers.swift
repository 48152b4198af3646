// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The paired devices that the bridge has reported.
@MainLoop
final class Peers {
    /// What they are called, and the way to them.
    let known: KnownPeers
    /// What they offer.
    let offers: Offers
    private let connection: Connection
    private let continued: ContinuedByPeers
    private let clipboards: Clipboards
    /// Makes what a device calls.
    private let makeObject: @MainLoop (DeviceID) -> PeerObject
    private var objects: [DeviceID: PeerObject] = [:]

    /// How many peers there may be.
    static let maximum = Quota.peers

    /// None yet. Their objects, which `makeObject` makes, are on `connection`.
    init(
        _ connection: Connection, _ known: KnownPeers, _ offers: Offers, _ continued: ContinuedByPeers,
        _ clipboards: Clipboards, _ makeObject: @escaping @MainLoop (DeviceID) -> PeerObject
    ) {
        self.clipboards = clipboards
        (self.connection, self.known, self.offers, self.continued) = (connection, known, offers, continued)
        self.makeObject = makeObject
    }

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
        known.learn(device, name: name, type: type)
        if isNew {
            let object = makeObject(device)
            objects[device] = object
            connection.objects.export(path, [PeerBinding(object)], access: .bridge, isListed: false)
            brokerLog.debug("Peer \(known.name(of: device)) (\(device)) is added.")
        }
        return path
    }

    /// Draws the consequences of adding a peer: there is a link with it, or a new one, or none; and what it sends is
    /// shown as sent, unless it is muted.
    func added(_ device: DeviceID, isConnected: Bool, isMuted: Bool) {
        known.linkChanged(to: device, isConnected: isConnected)
        offers.peerChanged(device, isMuted: isMuted)
        continued.linkChanged(to: device, isConnected: isConnected)
        offers.continuations.linkChanged(to: device, isConnected: isConnected)
        clipboards.peerChanged(device, isConnected: isConnected, isMuted: isMuted)
        guard isConnected else { return }
        offers.awake(device)
        offers.tellContinuedParked(to: device)
    }

    /// The device is no longer paired.
    func remove(_ device: DeviceID) {
        guard forget(device) else { return }
        brokerLog.debug("Peer \(device) is removed.")
        offers.peerRemoved(device)
        continued.peerRemoved(device)
        clipboards.peerRemoved(device)
    }

    /// The bridge is gone, and with it all that was known of peers; but what is being continued may still
    /// continue with the next bridge.
    func removeAll() {
        for device in objects.keys { forget(device) }
        offers.allPeersRemoved()
        continued.allLinksLost()
        clipboards.allPeersRemoved()
    }

    /// Nothing is told of them any more.
    func end() {
        objects = [:]
        offers.end()
    }

    @discardableResult
    private func forget(_ device: DeviceID) -> Bool {
        guard objects.removeValue(forKey: device) != nil else { return false }
        if let path = try? HandoffNames.peers.appending(device.description) {
            connection.objects.unexport(path)
        }
        known.forget(device)
        return true
    }
}

/// `org.example.Handoff.PeerManager`: how the bridge reports which peers there are.
@MainLoop
final class PeerManagerObject: PeerManagerServer {
    private let peers: Peers
    private let guards: StreamGuards
    private let parking: Parking
    private let listings: Listings
    private let attach: @MainLoop (AttachedSocket) -> Void

    /// `attach` is given each socket to the bridge, once the bridge has been sent its end.
    init(
        _ peers: Peers, _ guards: StreamGuards, _ parking: Parking, _ listings: Listings,
        attach: @escaping @MainLoop (AttachedSocket) -> Void
    ) {
        (self.peers, self.guards, self.parking, self.listings) = (peers, guards, parking, listings)
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
        if peers.contains(device) { peers.offers.willInvite(device, at: invitedAt) }
    }

    func park(_ call: MethodCall) async throws -> PeerManagerParkReply { try await parking.park() }

    func parkAside(_ call: MethodCall) async throws -> [LeftActivity] {
        await parking.parkAside()
    }

    func save(_ call: MethodCall) async throws -> PeerManagerSaveReply { try await parking.save() }

    func listActivities(deviceId: String, _ call: MethodCall) async throws -> [ObjectPath] {
        let device = try DeviceID(checking: deviceId)
        guard peers.contains(device) else { throw HandoffFailure.notPaired(device) }
        return try await listings.list(device)
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

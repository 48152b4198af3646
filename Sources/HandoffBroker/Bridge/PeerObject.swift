// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop

/// What the calls of a peer need from the session.
@MainLoop
protocol PeerObjectOwner: PeerDirectory {
    /// What time it is.
    var clock: LoopClock { get }
    /// The user's switch.
    var isEnabled: Bool { get }
    /// What peers offer.
    var remoteOffers: RemoteOffers { get }
    /// The activity that peers are offered at this moment; an expiration date that has just passed counts.
    var offeredNow: ActivityID? { get }
    /// What peers continue.
    var origin: OriginContinuations { get set }
    /// What peers took last.
    var recentFetches: RecentFetches { get set }
    /// The documents that are on their way to peers.
    var sentDocuments: SentDocuments { get }
    /// What is shared with other devices by other means.
    var sharedFolders: KnownFolders { get }
    /// Where the user is told what peers took.
    var fetchLog: FetchLog { get }
    /// `device` offers this now, in place of anything else.
    func offered(_ offer: Offer, by device: DeviceID)
    /// `device` no longer offers this activity.
    func withdrawn(_ id: ActivityID, by device: DeviceID)
    /// The user of `device` has sent this activity here, which is what it offers.
    func invited(to id: ActivityID, by device: DeviceID)
    /// An activity of this session.
    func object(of id: ActivityID) -> ActivityObject?
    /// All connections of the process of `connection`, which is one of them.
    func relatives(of connection: String) -> Set<String>
    /// Draws the consequences of what has ended.
    func perform(_ actions: [OriginContinuations.Action])
}

extension Broker: PeerObjectOwner {
    var isEnabled: Bool { activities.isEnabled }

    func offered(_ offer: Offer, by device: DeviceID) { peers.offered(offer, by: device) }

    func withdrawn(_ id: ActivityID, by device: DeviceID) { peers.withdraw(id, from: device) }

    func invited(to id: ActivityID, by device: DeviceID) { peers.invited(to: id, by: device) }
}

/// `org.example.Handoff.Peer` at the broker: what one paired device asks of this session. Everything in it comes
/// from the network.
@MainLoop
final class PeerObject: PeerServer {
    private let device: DeviceID
    private let owner: any PeerObjectOwner

    init(_ device: DeviceID, _ owner: any PeerObjectOwner) {
        self.device = device
        self.owner = owner
    }

    private func requireEnabled() throws {
        guard owner.isEnabled else { throw HandoffFailure.disabledThere }
    }

    // MARK: Offers

    func offer(activity: String, summary: [String: Value], _ call: MethodCall) async throws {
        try requireEnabled()
        let id = try ActivityID(checking: activity)
        let offer = try OfferSummary.decode(id, summary, now: owner.clock.wall)
        if let former = owner.remoteOffers.offers[device], former.id == id {
            guard former.type == offer.type, former.applicationID == offer.applicationID else {
                throw HandoffFailure(
                    .invalidArguments,
                    "ActivityType and ApplicationId of activity \(id) cannot change. Offer another activity.")
            }
        }
        owner.offered(offer, by: device)
    }

    func withdraw(activity: String, _ call: MethodCall) async throws {
        let id = try ActivityID(checking: activity)
        call.afterReply { [weak owner, device] in owner?.withdrawn(id, by: device) }
    }

    func invite(activity: String, _ call: MethodCall) async throws {
        try requireEnabled()
        let id = try ActivityID(checking: activity)
        guard owner.remoteOffers.offers[device]?.id == id else { throw Self.withdrawn(id) }
        call.afterReply { [weak owner, device] in owner?.invited(to: id, by: device) }
    }

    // MARK: Continuations of our activities

    func fetch(activity: String, continuation: String, _ call: MethodCall) async throws -> [String: Value] {
        try requireEnabled()
        let id = try ActivityID(checking: activity)
        let continuationID = try ContinuationID(checking: continuation)
        let offered = owner.offeredNow
        guard let object = owner.object(of: id) else { throw Self.withdrawn(id) }
        owner.perform(try owner.origin.fetch(id, for: continuationID, by: device, offered: offered))
        let begin = MainLoop.now
        let isSaved = await object.saved(for: continuationID)
        let saveTime = MainLoop.now - begin
        let files =
            isSaved && !object.isSandboxed ? await owner.sharedFolders.files(namedIn: object.state) : nil
        // Both take time, and much can happen meanwhile: what is no longer offered is not sent.
        guard isSaved, owner.object(of: id) === object,
            owner.offeredNow == id, owner.origin.entry(continuationID, of: device) != nil
        else {
            owner.perform(owner.origin.refused(continuationID, to: device))
            owner.fetchLog.say(
                device, "asked for", object, continuationID,
                ", which was offered no longer once it was saved: nothing was sent")
            throw Self.withdrawn(id)
        }
        owner.origin.sent(continuationID, to: device, document: object.documentURL)
        call.afterReply { [weak self] in self?.remember(object, continuationID, saveTime) }
        var payload = object.payload()
        payload["SaveTime"] = .int64(saveTime)
        files?.describe(&payload, room: ActivityState.maximumSize - 64 - object.state.size)
        return payload
    }

    private func rememberStream(to object: ActivityObject, _ continuation: ContinuationID) {
        remember(.stream, of: object, continuation)
        owner.fetchLog.say(
            device, "has opened a stream to \(object.applicationID) for", object, continuation)
    }

    /// Remembers the fetch, so that the user can find out what has left this device.
    private func remember(_ object: ActivityObject, _ continuation: ContinuationID, _ saveTime: Int64) {
        remember(.activity, of: object, continuation)
        owner.fetchLog.say(device, "continues", object, continuation)
        ContinuationTrace.say(
            continuation,
            "save \(ContinuationTrace.text(saveTime)), for \(owner.name(of: device))")
    }

    private func remember(
        _ kind: RecentFetches.Kind, of object: ActivityObject, _ continuation: ContinuationID
    ) {
        owner.recentFetches.add(
            RecentFetches.Fetch(
                kind, continuation: continuation, time: owner.clock.wall, device: device,
                deviceName: owner.name(of: device), type: object.type,
                applicationID: object.applicationID, title: PeerText.title(object.title)))
    }

    private static func withdrawn(_ id: ActivityID) -> HandoffFailure {
        HandoffFailure(
            .offerWithdrawn, "Activity \(id) is no longer offered. Choose from what is offered now.")
    }

    func continued(continuation: String, _ call: MethodCall) async throws {
        let id = try ContinuationID(checking: continuation)
        let actions = try owner.origin.continued(id, by: device)
        call.afterReply { [weak owner] in owner?.perform(actions) }
    }

    func release(continuation: String, _ call: MethodCall) async throws {
        let id = try ContinuationID(checking: continuation)
        let actions = owner.origin.released(id, by: device)
        call.afterReply { [weak owner] in owner?.perform(actions) }
    }

    /// The continuation of this device that is called `text`, and its activity, which was sent for it.
    /// - Throws: `Disabled`, `InvalidArgs`, or `UnknownObject` if there is none that lives.
    private func living(_ text: String) throws -> (ContinuationID, ActivityObject) {
        try requireEnabled()
        let id = try ContinuationID(checking: text)
        owner.perform(owner.origin.advance(to: owner.clock.instant))
        guard let entry = owner.origin.entry(id, of: device), entry.wasSent,
            let object = owner.object(of: entry.activity)
        else { throw HandoffFailure.unknownContinuation(id) }
        return (id, object)
    }

    func openStream(continuation: String, _ call: MethodCall) async throws -> FileDescriptor {
        let (id, object) = try living(continuation)
        guard object.supportsContinuationStreams else { throw HandoffFailure.noStreams(id) }
        // It counts as open while it is being opened; then the bridge says that it is.
        try owner.origin.openStream(
            id, of: device, to: object.owner.text, relatives: owner.relatives(of: object.owner.text)
        )
        defer { owner.origin.streamClosed(id, of: device) }
        let pair = try StreamSocket.makePair()
        try await object.receiveStream(pair.theirs)
        guard owner.origin.entry(id, of: device) != nil else {
            throw HandoffFailure.unknownContinuation(id)
        }
        rememberStream(to: object, id)
        return pair.ours
    }

    func openDocument(continuation: String, _ call: MethodCall) async throws -> PeerOpenDocumentReply {
        let (id, object) = try living(continuation)
        let opened = try await owner.sentDocuments.open(id, for: device, of: object.caller)
        remember(.document, of: object, id)
        owner.fetchLog.say(device, "gets the document of", object, id)
        return opened
    }
}

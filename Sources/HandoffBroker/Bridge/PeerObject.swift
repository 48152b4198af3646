// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// `org.example.Handoff.Peer` at the broker: what one paired device asks of this session. Everything in it comes
/// from the network.
@MainLoop
final class PeerObject: PeerServer {
    private let device: DeviceID
    private let offers: Offers
    private let activities: OwnActivities
    private let continued: ContinuedByPeers
    private let sharedFolders: KnownFolders
    private let log: FetchLog
    private let clipboards: Clipboards

    init(
        _ device: DeviceID, _ offers: Offers, _ activities: OwnActivities, _ continued: ContinuedByPeers,
        _ sharedFolders: KnownFolders, _ log: FetchLog, _ clipboards: Clipboards
    ) {
        self.clipboards = clipboards
        (self.device, self.offers, self.activities, self.continued) = (device, offers, activities, continued)
        (self.sharedFolders, self.log) = (sharedFolders, log)
    }

    private func requireEnabled() throws {
        guard activities.isEnabled else { throw HandoffFailure.disabledThere }
    }

    // MARK: Offers

    func offer(activity: String, summary: [String: Value], _ call: MethodCall) async throws {
        let offer = try offer(activity, summary)
        let origin = try OfferSummary.origin(summary)
        try offers.checkPlace(of: offer.id, isKept: origin != nil, by: device)
        offers.offered(offer, by: device, keptOf: origin)
    }

    func park(
        activity: String, summary: [String: Value], payload: PackedProperties, _ call: MethodCall
    ) async throws {
        let offer = try offer(activity, summary)
        try offers.checkPlace(of: offer.id, isKept: false, by: device)
        let time = try OfferSummary.parkedAt(summary) ?? activities.clock.wall
        try offers.parked(offer, payload, at: time, by: device)
    }

    private func offer(_ activity: String, _ summary: [String: Value]) throws -> Offer {
        try requireEnabled()
        let id = try ActivityID(checking: activity)
        let offer = try OfferSummary.decode(id, summary, now: activities.clock.wall)
        try offers.checkSame(offer, by: device)
        return offer
    }

    func withdraw(activity: String, _ call: MethodCall) async throws {
        let id = try ActivityID(checking: activity)
        call.afterReply { [weak offers, device] in offers?.withdraw(id, from: device) }
    }

    func invite(activity: String, _ call: MethodCall) async throws {
        try requireEnabled()
        let id = try ActivityID(checking: activity)
        guard offers.offer(id, of: device) != nil else { throw HandoffFailure.offerWithdrawn }
        call.afterReply { [weak offers, device] in offers?.invited(to: id, by: device) }
    }

    // MARK: Continuations of our activities

    func list(_ call: MethodCall) async throws -> [ListedActivity] {
        let offers = try activities.list(for: device)
        let listed = OfferSummary.encode(offers)
        call.afterReply { [log, device] in log.listed(offers, for: device) }
        return listed
    }

    func fetch(activity: String, continuation: String, _ call: MethodCall) async throws -> PackedProperties {
        try requireEnabled()
        let id = try ActivityID(checking: activity)
        let continuationID = try ContinuationID(checking: continuation)
        guard let object = activities.object(of: id) else { throw HandoffFailure.offerWithdrawn }
        try continued.fetch(id, for: continuationID, by: device)
        let begin = MainLoop.now
        let isSaved = await object.saved(for: continuationID)
        let saveTime = MainLoop.now - begin
        let files =
            isSaved && !object.isSandboxed ? await sharedFolders.files(namedIn: object.state) : nil
        // Both take time, and much can happen meanwhile: what is no longer offered is not sent.
        guard isSaved, activities.object(of: id) === object, activities.isOffered(id, to: device),
            continued.isLiving(continuationID, of: device)
        else {
            continued.refuse(continuationID, to: device)
            log.say(
                device, "asked for", object, continuationID,
                ", which was offered no longer once it was saved: nothing was sent")
            throw HandoffFailure.offerWithdrawn
        }
        continued.sent(continuationID, to: device, document: object.documentURL)
        call.afterReply { [weak self] in self?.remember(object, continuationID, saveTime) }
        var payload = object.payload(naming: files)
        payload["SaveTime"] = .int64(saveTime)
        return try PackedProperties(payload)
    }

    private func rememberStream(to object: ActivityObject, _ continuation: ContinuationID) {
        log.remember(.stream, of: object, continuation, by: device)
        log.say(
            device, "has opened a stream to \(object.applicationID) for", object, continuation)
    }

    /// Remembers the fetch, so that the user can find out what has left this device.
    private func remember(_ object: ActivityObject, _ continuation: ContinuationID, _ saveTime: Int64) {
        log.remember(.activity, of: object, continuation, by: device)
        log.say(device, "continues", object, continuation)
        ContinuationTrace.say(
            continuation,
            "save \(ContinuationTrace.text(saveTime)), for \(activities.peers.name(of: device))")
    }

    func continued(continuation: String, _ call: MethodCall) async throws {
        let id = try ContinuationID(checking: continuation)
        try continued.continued(id, by: device, call)
    }

    func continuedParked(
        activity: String, continuation: String, revision: UInt64, _ call: MethodCall
    ) async throws {
        try requireEnabled()
        let (id, continuation) = (
            try ActivityID(checking: activity), try ContinuationID(checking: continuation)
        )
        guard try activities.continuedParked(id, continuation, revision: revision, call),
            let object = activities.object(of: id)
        else { return }
        call.afterReply { [weak self, continued, device] in
            continued.tell(object, continuedBy: device)
            self?.remember(object, continuation, 0)
        }
    }

    func dismissed(activity: String, _ call: MethodCall) async throws {
        throw HandoffFailure(.notSupported, "The bridge keeps what was sent to devices that were away.")
    }

    func release(continuation: String, _ call: MethodCall) async throws {
        let id = try ContinuationID(checking: continuation)
        continued.released(id, by: device, call)
        clipboards.released(id, by: device)
    }

    /// The continuation of this device that is called `text`, and its activity, which was sent for it.
    /// - Throws: `Disabled`, `InvalidArgs`, or `UnknownObject` if there is none that lives.
    private func living(_ text: String) throws -> (ContinuationID, ActivityObject) {
        try requireEnabled()
        let id = try ContinuationID(checking: text)
        return (id, try continued.activity(of: id, of: device))
    }

    func openStream(continuation: String, _ call: MethodCall) async throws -> FileDescriptor {
        let (id, object) = try living(continuation)
        guard object.supportsContinuationStreams else { throw HandoffFailure.noStreams(id) }
        // It counts as open while it is being opened; then the bridge says that it is.
        try continued.openStream(id, of: device, to: object)
        defer { continued.streamClosed(id, of: device) }
        let pair = try StreamSocket.makePair()
        try await object.receiveStream(pair.theirs)
        guard continued.isLiving(id, of: device) else { throw HandoffFailure.unknownContinuation(id) }
        rememberStream(to: object, id)
        return pair.ours
    }

    // MARK: The clipboard

    func clipboardChanged(about: [String: Value], _ call: MethodCall) async throws {
        try await clipboards.announced(about, by: device)
    }

    func fetchClipboard(
        type: String, sent: String, _ call: MethodCall
    ) async throws -> [String: Value] {
        try await clipboards.fetch(type, sent, by: device, call)
    }

    // MARK: Documents

    func openDocument(continuation: String, _ call: MethodCall) async throws -> PeerOpenDocumentReply {
        if let opened = try await clipboards.open(try ContinuationID(checking: continuation), for: device) {
            return opened
        }
        let (id, object) = try living(continuation)
        let opened = try await continued.openDocument(id, for: device, of: object.caller)
        log.remember(.document, of: object, id, by: device)
        log.say(device, "gets the document of", object, id)
        return opened
    }
}

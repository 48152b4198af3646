// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffDaemon
internal import HandoffInterfaces
internal import MainLoop

/// `org.example.Handoff.Peer` at the broker: what one paired device asks of this session. Everything in it comes
/// from the network.
@MainLoop
final class PeerObject: PeerServer {
    private let device: DeviceID
    private unowned let broker: Broker

    init(_ device: DeviceID, _ broker: Broker) {
        self.device = device
        self.broker = broker
    }

    private func requireEnabled() throws {
        guard broker.activities.isEnabled else { throw HandoffFailure.disabledThere }
    }

    // MARK: Offers

    func offer(activity: String, summary: [String: Value], _ call: MethodCall) async throws {
        try requireEnabled()
        let id = try ActivityID(checking: activity)
        let offer = try OfferSummary.decode(id, summary, now: MainLoop.wallClock)
        if let former = broker.remoteOffers.offers[device], former.id == id {
            guard former.type == offer.type, former.applicationID == offer.applicationID else {
                throw HandoffFailure(
                    .invalidArguments,
                    "ActivityType and ApplicationId of activity \(id) cannot change. Offer another activity.")
            }
        }
        take(offer)
    }

    private func take(_ offer: Offer) {
        for runner in broker.runners.values where runner.device == device {
            if runner.offeredActivity == offer.id {
                runner.offerRevised(to: offer.revision)
            } else {
                runner.offerWithdrawn()
            }
        }
        broker.peers.perform(
            broker.remoteOffers.offer(offer, from: device, handlers: broker.registry.handlers(for: offer)))
    }

    func withdraw(activity: String, _ call: MethodCall) async throws {
        let id = try ActivityID(checking: activity)
        call.afterReply { [weak broker, device] in broker?.peers.withdraw(id, from: device) }
    }

    // MARK: Continuations of our activities

    func fetch(activity: String, continuation: String, _ call: MethodCall) async throws -> [String: Value] {
        try requireEnabled()
        let id = try ActivityID(checking: activity)
        let continuationID = try ContinuationID(checking: continuation)
        let offered = broker.offeredNow
        guard let object = broker.object(of: id) else { throw Self.withdrawn(id) }
        broker.perform(try broker.origin.fetch(id, for: continuationID, by: device, offered: offered))
        let begin = MainLoop.now
        // Saving takes its time, and in that much can happen: what is not offered any more is not sent.
        guard await object.saved(for: continuationID), broker.object(of: id) === object,
            broker.offeredNow == id, broker.origin.entry(continuationID, of: device) != nil
        else {
            broker.perform(broker.origin.refused(continuationID, to: device))
            broker.fetchLog.say(
                device, "asked for", object, continuationID,
                ", which was offered no longer once it was saved: nothing was sent")
            throw Self.withdrawn(id)
        }
        broker.origin.sent(continuationID, to: device)
        let saveTime = MainLoop.now - begin
        call.afterReply { [weak self] in self?.remember(object, continuationID, saveTime) }
        var payload = object.payload()
        payload["SaveTime"] = .int64(saveTime)
        return payload
    }

    private func rememberStream(to object: ActivityObject, _ continuation: ContinuationID) {
        remember(.stream, of: object, continuation)
        broker.fetchLog.say(
            device, "has opened a stream to \(object.applicationID) for", object, continuation)
    }

    /// Remembers the fetch, so that the user can find out what has left this device.
    private func remember(_ object: ActivityObject, _ continuation: ContinuationID, _ saveTime: Int64) {
        remember(.activity, of: object, continuation)
        broker.fetchLog.say(device, "continues", object, continuation)
        ContinuationTrace.say(
            continuation,
            "save \(ContinuationTrace.text(saveTime)), for \(broker.peers.name(of: device))")
    }

    private func remember(
        _ kind: RecentFetches.Kind, of object: ActivityObject, _ continuation: ContinuationID
    ) {
        broker.recentFetches.add(
            RecentFetches.Fetch(
                kind, continuation: continuation, time: MainLoop.wallClock, device: device,
                deviceName: broker.peers.name(of: device), type: object.type,
                applicationID: object.applicationID, title: PeerText.title(object.title)))
    }

    private static func withdrawn(_ id: ActivityID) -> HandoffFailure {
        HandoffFailure(
            .offerWithdrawn, "Activity \(id) is no longer offered. Choose from what is offered now.")
    }

    func continued(continuation: String, _ call: MethodCall) async throws {
        let id = try ContinuationID(checking: continuation)
        let actions = try broker.origin.continued(id, by: device)
        call.afterReply { [weak broker] in broker?.perform(actions) }
    }

    func release(continuation: String, _ call: MethodCall) async throws {
        let id = try ContinuationID(checking: continuation)
        let actions = broker.origin.released(id, by: device)
        call.afterReply { [weak broker] in broker?.perform(actions) }
    }

    func openStream(continuation: String, _ call: MethodCall) async throws -> FileDescriptor {
        try requireEnabled()
        let id = try ContinuationID(checking: continuation)
        broker.perform(broker.origin.advance(to: .now))
        guard let entry = broker.origin.entry(id, of: device), entry.wasSent,
            let object = broker.object(of: entry.activity)
        else { throw HandoffFailure.unknownContinuation(id) }
        guard object.supportsContinuationStreams else { throw HandoffFailure.noStreams(id) }
        // It counts as open while it is being opened; then the bridge says that it is.
        try broker.origin.openStream(
            id, of: device, to: object.owner.text, relatives: broker.holdings.relatives(of: object.owner.text)
        )
        defer { broker.origin.streamClosed(id, of: device) }
        let pair = try StreamSocket.makePair()
        try await object.receiveStream(pair.theirs)
        guard broker.origin.entry(id, of: device) != nil else {
            throw HandoffFailure.unknownContinuation(id)
        }
        rememberStream(to: object, id)
        return pair.ours
    }

    func openDocument(continuation: String, _ call: MethodCall) async throws -> PeerOpenDocumentReply {
        throw HandoffFailure(.notSupported, "This version of Handoff brings no documents over.")
    }
}

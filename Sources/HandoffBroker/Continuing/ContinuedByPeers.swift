// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// The continuations of this session's activities by peers.
@MainLoop
final class ContinuedByPeers {
    private var machine = OriginContinuations() {
        didSet {
            timer.set(machine.nextDeadline?.microseconds)
            activities.awaited(machine.awaited)
        }
    }
    private let activities: OwnActivities
    private let documents: SentDocuments
    private let memory: DocumentsMemory
    private var peers: any PeerDirectory { activities.peers }
    private var clock: LoopClock { activities.clock }
    private lazy var timer = DeadlineTimer(by: clock) { [weak self] in self?.advance() }

    /// Continuations of `activities`, whose documents are among those that `looks` looks at, and that `memory` knows again.
    init(_ activities: OwnActivities, _ looks: FileLooks, _ memory: DocumentsMemory) {
        (self.activities, self.memory) = (activities, memory)
        documents = SentDocuments(activities.peers, looks, memory)
        documents.onClosed = { [weak self] in self?.machine.documentClosed(of: $0) }
    }

    // MARK: What peers ask for

    /// `device` asks for an activity, to continue it.
    /// - Throws: `OfferWithdrawn`, `LimitsExceeded` or `InvalidArgs`.
    func fetch(_ activity: ActivityID, for id: ContinuationID, by device: DeviceID) throws(HandoffFailure) {
        let isOffered = activities.isOffered(activity, to: device)
        perform(try machine.fetch(activity, for: id, by: device, isOffered: isOffered))
    }

    /// What was asked for is not sent after all.
    func refuse(_ id: ContinuationID, to device: DeviceID) { perform(machine.refused(id, to: device)) }

    /// The activity has been sent, and so may its document be.
    func sent(_ id: ContinuationID, to device: DeviceID, document: String) {
        machine.sent(id, to: device, document: document)
    }

    /// Whether this continuation of `device` has not ended.
    func isLiving(_ id: ContinuationID, of device: DeviceID) -> Bool { machine.entry(id, of: device) != nil }

    /// The activity of a continuation that has not ended, and which has been sent for it.
    /// - Throws: `UnknownObject` if there is none.
    func activity(of id: ContinuationID, of device: DeviceID) throws(HandoffFailure) -> ActivityObject {
        advance()
        guard let entry = machine.entry(id, of: device), entry.wasSent,
            let object = activities.object(of: entry.activity)
        else { throw .unknownContinuation(id) }
        return object
    }

    /// `device` has continued the activity.
    func continued(_ id: ContinuationID, by device: DeviceID, _ call: MethodCall) throws(HandoffFailure) {
        let actions = try machine.continued(id, by: device)
        call.afterReply { [weak self] in self?.perform(actions) }
    }

    /// Nothing more comes of the continuation.
    func released(_ id: ContinuationID, by device: DeviceID, _ call: MethodCall) {
        let actions = machine.released(id, by: device)
        call.afterReply { [weak self] in self?.perform(actions) }
    }

    // MARK: Streams and documents

    /// A stream to `object` is being opened. It counts until ``streamClosed(_:of:)``.
    /// - Throws: `LimitsExceeded`.
    func openStream(_ id: ContinuationID, of device: DeviceID, to object: ActivityObject)
        throws(HandoffFailure)
    {
        let connection = object.owner.text
        try machine.openStream(
            id, of: device, to: connection, relatives: activities.applications.relatives(of: connection))
    }

    /// A stream is open. It counts until ``streamClosed(_:of:)``.
    func streamOpened(_ id: ContinuationID, of device: DeviceID) { machine.streamOpened(id, of: device) }

    /// A stream is open no longer, or no longer being opened.
    func streamClosed(_ id: ContinuationID, of device: DeviceID) { machine.streamClosed(id, of: device) }

    /// Opens the document of a continuation and begins to send it.
    /// - Parameter caller: whose application has named the document.
    /// - Returns: the bridge's end, and what the peer is told.
    func openDocument(
        _ id: ContinuationID, for device: DeviceID, of caller: Caller
    ) async throws -> PeerOpenDocumentReply {
        await documents.endFormer(of: device)
        // It counts from now on, until it has been sent or cannot be.
        let url = try machine.openDocument(id, of: device)
        return try await documents.open(url, id, for: device, of: caller) { [self] in
            activities.isEnabled && isLiving(id, of: device)
        }
    }

    /// Begins to send a clipboard's content to a peer, as a document.
    /// - Returns: the bridge's end, and what the peer is told.
    func openClipboard(
        _ file: ClipboardFile, _ id: ContinuationID, for device: DeviceID,
        while isWanted: @MainLoop () -> Bool
    ) async throws -> PeerOpenDocumentReply {
        await documents.endFormer(of: device)
        guard isWanted() else { throw HandoffFailure.unknownContinuation(id) }
        try machine.openOther(id, of: device)
        return try documents.open(file, id, for: device)
    }

    /// A clipboard's content is not to go to a peer any more.
    func stopClipboard(_ id: ContinuationID, of device: DeviceID) { documents.stop(id, of: device) }

    // MARK: Events

    /// This activity is offered now, or none is.
    func offered(_ activity: ActivityID?) { machine.offered(activity, at: clock.instant) }

    /// This activity has ended, or nothing of it is to go to peers any more.
    func invalidated(_ activity: ActivityID) { perform(machine.activityInvalidated(activity)) }

    /// The user has switched Handoff off.
    func disable() { perform(machine.disabled()) }

    /// There is a link to `device`, or another one, or none.
    func linkChanged(to device: DeviceID, isConnected: Bool) {
        if isConnected {
            machine.linkRestored(to: device)
        } else {
            machine.linkLost(to: device, at: clock.instant)
        }
    }

    /// There is no link any more.
    func allLinksLost() { machine.allLinksLost(at: clock.instant) }

    /// `device` is no longer paired.
    func peerRemoved(_ device: DeviceID) {
        perform(machine.peerRemoved(device))
        activities.peerRemoved(device)
        memory.forget(device)
    }

    // MARK: Actions

    private func advance() { perform(machine.advance(to: clock.instant)) }

    private func perform(_ actions: [OriginContinuations.Action]) {
        for action in actions {
            switch action {
            case .tellWasContinued(let entry):
                if let object = activities.object(of: entry.activity) {
                    tell(object, continuedBy: entry.device)
                }
            case .ended(let entry):
                ended(entry)
                if entry.openStreams > 0 { endStreams(of: entry) }
            case .released(let entry): ended(entry)
            }
        }
    }

    private func ended(_ entry: OriginContinuations.Entry) {
        brokerLog.debug("Continuation \(entry.id) of activity \(entry.activity) has ended.")
        activities.object(of: entry.activity)?.forget(entry.id)
        documents.stop(entry.id, of: entry.device)
    }

    /// Has the bridge end the streams of `entry`, since the broker has given their descriptors away.
    private func endStreams(of entry: OriginContinuations.Entry) {
        MainLoop.start { [peers] in
            guard let peer = try? peers.bridgePeer(entry.device) else { return }
            do {
                try await peer.release(continuation: entry.id.description)
            } catch {
                brokerLog.debug("continuation \(entry.id): Release: \(DBusError.converting(error).message)")
            }
        }
    }

    /// Tells the application of `object`, and subscribers, that `device` has continued it.
    func tell(_ object: ActivityObject, continuedBy device: DeviceID) {
        object.wasContinued(by: device)
        tellContinued(object, by: device)
    }

    private func tellContinued(_ object: ActivityObject, by device: DeviceID) {
        let continued: [String: Value] = [
            "DeviceId": .string(device.description), "DeviceName": .string(peers.name(of: device)),
            "ActivityType": .string(object.type.description),
            "ApplicationId": .string(object.applicationID.description),
            "Title": .string(PeerText.title(object.title)), "Time": .int64(clock.wall),
        ]
        activities.connection.objects.tellSubscribers(of: HandoffNames.brokerPath) { () throws(DBusError) in
            try ManagerBinding.activityContinued(from: HandoffNames.brokerPath, continued: continued)
        }
    }
}

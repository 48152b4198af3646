// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffStarting
internal import MainLoop

/// The offers that continuations continue, as they are shown.
@MainLoop
protocol ContinuedOffers: AnyObject {
    /// The offer is being continued from now on, and stays as long. That is not told before ``show(_:)``.
    func beginContinuing(_ key: RemoteActivityKey)
    /// Announces what has changed about the offer, if it is still shown.
    func show(_ key: RemoteActivityKey)
    /// The offer is continued no more.
    func endContinuing(_ key: RemoteActivityKey)
    /// The continuation of the offer has come so far, from 0 to 1; -1 if that is not known.
    func setProgress(_ progress: Double, _ key: RemoteActivityKey)
    /// The application that continues the offer shows that by itself.
    func setShownByApplication(_ key: RemoteActivityKey)
    /// The offer was continued.
    func continued(_ key: RemoteActivityKey)
    /// The offer was continued, and its device knows nothing of the continuation.
    func continuedUnheard(_ key: RemoteActivityKey)
    /// What the device of the offer has left here by now; nil if nothing.
    func parked(_ key: RemoteActivityKey) -> ParkedActivity?
    /// What its device had left here was continued, of this `revision`: the device has to be told.
    func continuedParked(_ key: RemoteActivityKey, _ id: ContinuationID, revision: UInt64)
}

/// What continuations use to reach applications, and what else they need of this machine.
struct ContinuationTools {
    /// What time it is.
    let clock: LoopClock
    /// The bus of the applications.
    let bus: Bus
    /// What looks at files.
    let looks: FileLooks
    /// What starts applications and has them open things.
    let starter: ApplicationStarter
    /// What is shared with other devices by other means.
    let sharedFolders: KnownFolders
    /// The documents that are brought over.
    let documents: ReceivedDocuments
}

/// The continuations of peers' activities on this machine, and which connections hold them.
@MainLoop
final class ContinuationsHere {
    let tools: ContinuationTools
    let applications: Applications
    /// Whose activities they continue.
    let peers: any PeerDirectory
    private(set) var runners: [ContinuationID: ContinuationRunner] = [:]
    private var held = HeldContinuations()
    private let releases: PendingReleases

    /// Calls, signals and objects on the bus of the applications.
    var connection: Connection { tools.bus.connection }

    /// None yet.
    init(_ tools: ContinuationTools, _ applications: Applications, _ peers: any PeerDirectory) {
        (self.tools, self.applications, self.peers) = (tools, applications, peers)
        releases = PendingReleases(peers)
    }

    /// What continues this offer now.
    func running(_ key: RemoteActivityKey) -> ContinuationRunner? {
        runners.values.first { $0.isRunning && $0.key == key }
    }

    /// A continuation begins.
    func add(_ runner: ContinuationRunner) { runners[runner.id] = runner }

    /// Nothing more comes of the continuation, and the origin has to be told that.
    func ended(_ runner: ContinuationRunner) {
        runners[runner.id] = nil
        _ = held.released(runner.id)
        // The origin never heard of what was continued without it.
        if !runner.isWithoutOrigin { releases.release(runner.id, of: runner.device) }
    }

    /// The broker has ended, and nothing comes of them any more.
    func end() { runners = [:] }

    // MARK: Which connections hold them

    /// A continuation is about to be handed to `connection`.
    /// - Returns: what that ends, to be performed.
    /// - Throws: `limitsExceeded` if it or its process holds as many as it may.
    func began(
        _ id: ContinuationID, on connection: String, supportsStreams: Bool
    ) throws(HandoffFailure) -> [HeldContinuations.Action] {
        try held.began(
            id, connection: connection, supportsStreams: supportsStreams,
            relatives: applications.relatives(of: connection))
    }

    /// A continuation that is held goes to another connection. It throws as ``began(_:on:supportsStreams:)`` does.
    func handedOver(
        _ id: ContinuationID, to connection: String
    ) throws(HandoffFailure) -> [HeldContinuations.Action] {
        try held.handedOver(id, to: connection, relatives: applications.relatives(of: connection))
    }

    /// Ends the continuations that a connection no longer holds.
    func perform(_ actions: [HeldContinuations.Action]) {
        for case .ended(let id) in actions { runners[id]?.letGo() }
    }

    /// The activity has arrived, so it is now certain whether it supports streams.
    func fetched(_ id: ContinuationID, supportsStreams: Bool) {
        held.fetched(id, supportsStreams: supportsStreams)
    }

    /// The application has been handed the activity.
    func delivered(_ id: ContinuationID) { perform(held.delivered(id)) }

    /// The application released the continuation, or it failed. What that causes follows the reply to `call`.
    func released(_ id: ContinuationID, after call: MethodCall? = nil) {
        let actions = held.released(id)
        MethodCall.after(call) { [weak self] in self?.perform(actions) }
    }

    /// Whether an application holds it.
    func isHeld(_ id: ContinuationID) -> Bool { held[id] != nil }

    /// Whether `connection` held this continuation, which is over and had no streams.
    func endedWithoutStreams(_ id: ContinuationID, of connection: String) -> Bool {
        held.endedWithoutStreams(id, of: connection)
    }

    /// The application opens a stream, which counts until ``streamClosed(_:)``.
    /// - Throws: `unknownObject`, `streamsNotSupported` or `limitsExceeded`.
    func openStream(_ id: ContinuationID) throws(HandoffFailure) {
        let relatives = held[id].map { applications.relatives(of: $0.connection) }
        try held.openStream(id, relatives: relatives ?? [])
    }

    /// A stream of a continuation of `device` is open. It counts until ``streamClosed(_:)``.
    func streamOpened(_ id: ContinuationID, of device: DeviceID) {
        if runners[id]?.device == device { held.streamOpened(id) }
    }

    /// A stream is open no longer, or no longer being opened.
    func streamClosed(_ id: ContinuationID) { held.streamClosed(id) }

    // MARK: Events

    /// The applications that have registered are others.
    func applicationRegistered() {
        for runner in runners.values { runner.applicationRegistered() }
    }

    /// A connection has unregistered or left the bus.
    func connectionVanished(_ connection: String, isOnBus: Bool) {
        for runner in runners.values { runner.applicationVanished(connection, isOnBus: isOnBus) }
        perform(held.connectionVanished(connection))
    }

    /// A connection that may have asked for continuations has left the bus.
    func callerVanished(_ name: BusName) {
        for runner in runners.values { runner.callerVanished(name) }
    }

    /// Which applications the user excludes has changed.
    func exclude() {
        for runner in runners.values where runner.isExcluded { runner.exclude() }
    }

    /// Handoff is switched off here, or ends: what has not been delivered fails with this.
    func stop(_ failure: HandoffFailure) {
        for runner in runners.values { runner.stop(failure) }
    }

    /// There is a link to `device`, or another one, or none.
    func linkChanged(to device: DeviceID, isConnected: Bool) {
        if isConnected { releases.linkRestored(to: device) }
        for runner in runners.values where runner.device == device {
            if isConnected { runner.linkRestored() } else { runner.linkLost() }
        }
    }

    /// There is no link any more.
    func allLinksLost() {
        for runner in runners.values { runner.linkLost() }
    }

    /// `device` offers `offer` as it is now.
    func offered(_ offer: Offer, by device: DeviceID) {
        for runner in runners.values where runner.device == device && runner.offeredActivity == offer.id {
            runner.offerRevised(to: offer.revision)
        }
    }

    /// `device` no longer offers this activity.
    func withdrawn(_ id: ActivityID, by device: DeviceID) {
        for runner in runners.values where runner.device == device && runner.offeredActivity == id {
            runner.offerWithdrawn()
        }
    }

    /// `device` is no longer paired.
    func peerRemoved(_ device: DeviceID) {
        releases.forget(device)
        for runner in runners.values where runner.device == device { runner.offerWithdrawn() }
    }
}

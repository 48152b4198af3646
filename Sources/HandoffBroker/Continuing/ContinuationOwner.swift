// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop

/// What is known of peers: what they are called, and the way to them.
@MainLoop
protocol PeerDirectory: AnyObject {
    /// What `device` is shown as.
    func name(of device: DeviceID) -> String
    /// The bridge's object of `device`.
    /// - Throws: `ConnectionUnavailable` while there is no bridge.
    func bridgePeer(_ device: DeviceID) throws -> PeerProxy
}

/// What a continuation needs from the session that it runs in.
@MainLoop
protocol ContinuationOwner: PeerDirectory {
    /// What time it is.
    var clock: LoopClock { get }
    /// The bus of the applications.
    var bus: Bus { get }
    /// The applications that have registered.
    var registry: Registry { get }
    /// Which connections hold which continuations.
    var held: HeldContinuations { get set }
    /// What starts applications and has them open things.
    var starter: ApplicationStarter { get }
    /// What is shared with other devices by other means.
    var sharedFolders: KnownFolders { get }
    /// What the user's desktop opens things with.
    var defaults: DefaultApplications { get }
    /// What looks at files.
    var looks: FileLooks { get }
    /// The documents that are brought over.
    var documents: ReceivedDocuments { get }
    /// Whether `application` continues `offer` only because the site of its web page has given it its pages.
    func getsPageAlone(_ application: ApplicationID, of offer: Offer) -> Bool
    /// All connections of the process of `connection`, which is one of them.
    func relatives(of connection: String) -> Set<String>
    /// Ends the continuations that a connection no longer holds.
    func perform(_ actions: [HeldContinuations.Action])
    /// The offer is now being continued, or no longer is. The answer is for ``show(_:)``.
    func setContinuing(_ isContinuing: Bool, _ key: RemoteActivityKey) -> [RemoteOffers.Action]
    /// Announces what has changed about offers.
    func show(_ actions: [RemoteOffers.Action])
    /// Announces what has changed about this offer, if it is still shown.
    func showOffer(_ key: RemoteActivityKey)
    /// The continuation of the offer has come so far, from 0 to 1; -1 if that is not known.
    func setProgress(_ progress: Double, _ key: RemoteActivityKey)
    /// The application that continues the offer shows that by itself.
    func setShownByApplication(_ key: RemoteActivityKey)
    /// Nothing more comes of the continuation, and the origin has to be told that.
    func continuationEnded(_ id: ContinuationID, of device: DeviceID)
}

extension ContinuationOwner {
    /// Calls, signals and objects on ``bus``.
    var connection: Connection { bus.connection }
}

extension Broker: ContinuationOwner {
    func name(of device: DeviceID) -> String { peers.name(of: device) }

    func relatives(of connection: String) -> Set<String> { holdings.relatives(of: connection) }

    func getsPageAlone(_ application: ApplicationID, of offer: Offer) -> Bool {
        registry.getsPageAlone(application, of: offer, with: choices(for: offer))
    }

    func setContinuing(_ isContinuing: Bool, _ key: RemoteActivityKey) -> [RemoteOffers.Action] {
        remoteOffers.setContinuing(isContinuing, key.activity, of: key.device)
    }

    func show(_ actions: [RemoteOffers.Action]) { peers.perform(actions) }

    func showOffer(_ key: RemoteActivityKey) {
        guard let entry = remoteOffers.entry(key.activity, of: key.device) else { return }
        show([.changed(entry)])
    }

    func setProgress(_ progress: Double, _ key: RemoteActivityKey) { peers.setProgress(progress, key) }
    func setShownByApplication(_ key: RemoteActivityKey) { peers.setShownByApplication(key) }

    func continuationEnded(_ id: ContinuationID, of device: DeviceID) {
        runners[id] = nil
        _ = held.released(id)
        pendingReleases.release(id, of: device)
    }
}

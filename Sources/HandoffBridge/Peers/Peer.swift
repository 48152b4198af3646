// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What a peer needs from its surroundings.
@MainLoop
protocol PeerOwner: AnyObject {
    /// What this device offers.
    var ownOffer: OwnOffer? { get }
    /// Dials `device` without waiting further, if it is to be dialled at all.
    func dialNow(_ device: DeviceID)
    /// Whether a continuation has streams.
    func hasStreams(_ owner: Stream.Owner) -> Bool
    /// What takes the calls of the peer `device`; nil unless there is a broker that has been told of the
    /// peer.
    func brokersPeer(_ device: DeviceID) -> PeerProxy?
    /// Tells the broker that the next invitation of `device` came here at `time`, by the wall clock.
    func brokerWillHear(of device: DeviceID, invitedAt time: Int64)
    /// Something was left here. What was left the longest ago goes, if it is too much.
    func makeRoomForParked()
    /// ``Peer/asleepSince`` of `device` is another.
    func sleepChanged(of device: DeviceID)
}

/// A device that this one trusts: the link over which it can be used, calls in both directions, and its
/// offer.
@MainLoop
final class Peer {
    /// How long a call waits for a link.
    static let patience = Duration.seconds(5)
    /// How long a call may take, including the wait for a link and a repetition.
    static let timeout = Deadline.fetch

    let device: DeviceID
    /// The established link on which both sides are paired.
    private(set) var link: Link?
    let state: BridgeState
    let owner: any PeerOwner
    var offer = PeerOffers()
    /// What the peer has left here besides.
    var aside = LeftAside()
    private lazy var timer = DeadlineTimer { [weak self] in
        self?.resumed()
    }
    private var waiting: [Int: CheckedContinuation<Link?, Never>] = [:]
    private var nextWaiting = 0
    /// What this device has left with the peer before it slept, the oldest first, and as which continuation that has continued it.
    var left: [(activity: ActivityID, continuation: ContinuationID?)] = []
    /// Since when the peer has left something here, by the wall clock, over the link of this number, and until when that is
    /// remembered; nil once there is another link.
    var sleep: (since: Int64, link: Int, until: Int64)?
    private var toldAsleepSince: Int64 = 0
    /// The continuations that the broker has begun with activities of this peer, the oldest first.
    private var continuations: [ContinuationID] = []
    /// The continuations that were begun by a broker that is gone.
    private var orphans: [ContinuationID] = []

    /// How many continuations are remembered: more than a peer allows at a time.
    private static let maximumContinuations = 64

    init(_ device: DeviceID, _ state: BridgeState, _ owner: any PeerOwner) {
        self.device = device
        (self.state, self.owner) = (state, owner)
    }

    /// What the peer is called in messages.
    var label: String { state.label(of: device) }

    // MARK: The link

    /// There is another link now, or none.
    func setLink(_ new: Link?) {
        guard new !== link else { return }
        link = new
        guard let new else {
            offer.unlinked(at: MainLoop.bootClock)
            return updateTimer()
        }
        offer.linked(new.number, at: MainLoop.bootClock)
        aside.linked(new.number)
        if sleep?.link != new.number { sleep = nil }
        updateTimer()
        if let own = owner.ownOffer { tell(own, over: new) }
        goOn(with: new)
    }

    /// The device is no longer trusted.
    func end() {
        link = nil
        timer.set(nil)
        goOn(with: nil)
    }

    /// Nobody waits for a link any more; those who did go on in the order in which they came.
    private func goOn(with link: Link?) {
        let continuations = waiting.sorted { $0.key < $1.key }.map(\.value)
        waiting = [:]
        for continuation in continuations { continuation.resume(returning: link) }
    }

    /// The link, for which this waits as long as `wait`; nil if there is none by then.
    func link(within wait: Duration) async -> Link? {
        if let link { return link }
        owner.dialNow(device)
        nextWaiting += 1
        let number = nextWaiting
        let timer = LoopSource.timer(after: wait) { [weak self] in
            self?.waiting.removeValue(forKey: number)?.resume(returning: nil)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { waiting[number] = $0 }
    }

    // MARK: Calls to it

    /// Runs `call` over the link, and once more over a new one if the link is lost before the answer.
    ///
    /// - Throws: `connectionUnavailable` without a link, `notPaired` if the device is no longer trusted,
    ///   otherwise the error that the peer answered.
    func call<Result: Sendable>(
        _ what: String, _ call: @MainLoop (PeerProxy, Duration) async throws -> Result
    ) async throws -> Result {
        // A bridge that has just started does not know the switch yet, and gets its links as soon as it does.
        guard !state.isSwitchedOff else { throw HandoffFailure.disabled }
        let start = MainLoop.now
        var lost = "There is no link. Wait until it is connected."
        for attempt in 1...2 {
            let left = Self.timeout - .microseconds(MainLoop.now - start)
            guard left > .zero, let link = await link(within: min(left, Self.patience)) else { break }
            do {
                let left = Self.timeout - .microseconds(MainLoop.now - start)
                link.expectAcknowledgement()
                let result = try await call(PeerProxy(link.remote), max(left, .milliseconds(1)))
                bridgeLog.debug("\(what) to \(label): answered after \((MainLoop.now - start) / 1000) ms.")
                return result
            } catch {
                guard link.isClosed else { throw HandoffFailure(routed: error) }
                bridgeLog.debug("\(what) to \(label): attempt \(attempt) ended with link \(link.number).")
                lost = "The link was lost. Try again."
            }
        }
        guard state.isTrusted(device) else { throw Self.notPaired(label) }
        throw HandoffFailure.unreachable(label, lost)
    }

    // MARK: Continuations

    /// The broker fetches something from this peer for the continuation `id`.
    func continuationBegan(_ id: ContinuationID) {
        guard !continuations.contains(id) else { return }
        if continuations.count == Self.maximumContinuations { continuations.removeFirst() }
        continuations.append(id)
    }

    /// The broker has released the continuation `id`.
    func continuationEnded(_ id: ContinuationID) { continuations.removeAll { $0 == id } }

    /// The broker is gone, and so nobody else would release what it was continuing.
    func brokerGone() {
        orphans += continuations
        continuations = []
        releaseOrphans()
    }

    /// A stream has ended, perhaps the last of its continuation.
    func streamEnded(_ owner: Stream.Owner) {
        if !owner.isOrigin { releaseOrphans() }
    }

    /// Releases what a broker that is gone was continuing. A continuation with streams goes on as long as
    /// they do, since they need no broker.
    private func releaseOrphans() {
        let released = orphans.filter {
            !owner.hasStreams(Stream.Owner(device: device, continuation: $0, isOrigin: false))
        }
        orphans.removeAll { released.contains($0) }
        for id in released {
            MainLoop.start { [weak self] in
                // Without a link, the peer forgets the continuation by itself.
                try? await self?.call("Release of \(id)") { proxy, timeout in
                    try await proxy.release(continuation: id.description, timeout: timeout)
                }
            }
        }
    }

    static func notPaired(_ label: String) -> HandoffFailure {
        HandoffFailure(.notPaired, "\(label) is not paired with this device. Pair them first.")
    }

    // MARK: Our offer

    /// Tells the peer of this device's offer.
    func tell(_ own: OwnOffer, over link: Link) {
        MainLoop.start { [self] in
            do {
                let summary = try SummaryTime.forLink(own.summary, now: MainLoop.wallClock)
                try await PeerProxy(link.remote).offer(activity: own.id.description, summary: summary)
            } catch {
                bridgeLog.info("\(label) did not take the offer \(own.id): \(HandoffFailure(routed: error))")
            }
        }
    }

    /// Tells the peer that the offer has ended.
    func tellWithdrawn(_ id: ActivityID) {
        guard let link else { return }
        MainLoop.start { [self] in
            do {
                try await PeerProxy(link.remote).withdraw(activity: id.description)
            } catch {
                bridgeLog.debug(
                    "\(label) did not take the end of the offer: \(HandoffFailure(routed: error))")
            }
        }
    }

    /// Tells the peer that the offer has ended, at the end of the program, without waiting for an answer.
    func tellWithdrawnNow(_ id: ActivityID) {
        guard let link else { return }
        do {
            let message = try Message.call(
                to: nil, link.remote.path, PeerBinding.description.name, "Withdraw")
            var writer = MessageWriter(message)
            try writer.write(id.description)
            try link.remote.connection.send(message)
        } catch {
            bridgeLog.debug("\(label) does not hear of the end of the offer: \(error)")
        }
    }

    // MARK: Its offer

    /// A link with the peer has ended.
    func linkEnded(_ link: Link) {
        perform(offer.ended(link.number, inOrder: link.endedInOrder, at: MainLoop.bootClock))
    }

    /// The peer offers an activity over `link`; the summary is in the form that it has on a bus.
    func offered(_ id: ActivityID, _ summary: [String: Value], over link: Link) async throws {
        let origin = summary["Kept"]
        guard origin.map({ $0.string.flatMap { ActivityID($0) } != nil }) ?? true else {
            throw HandoffFailure(
                .invalidArguments, "Kept is not the id of an activity. Give it one, of the type s.")
        }
        // It is offered now, whatever was left of it before.
        aside.drop(id)
        let actions = try offer.offered(
            id, summary, isKept: origin != nil, link: link.number, at: MainLoop.bootClock)
        for telling in perform(actions) { try await telling.value }
    }

    /// Time has passed, perhaps in sleep: what was to end meanwhile ends.
    func resumed() {
        aside.advance(to: MainLoop.bootClock)
        if let sleep, sleep.until <= MainLoop.bootClock { self.sleep = nil }
        perform(offer.advance(to: MainLoop.bootClock))
    }

    /// The peer no longer offers the activity.
    func withdrawn(_ id: ActivityID) async throws {
        for telling in perform(offer.withdrawn(id)) { try await telling.value }
    }

    /// There is a new broker, which has been told of this peer.
    func brokerAppeared() { perform(offer.brokerAppeared(at: MainLoop.bootClock)) }

    /// Tells the broker, always by way of the main loop, so that later news does not overtake news that is
    /// still waiting.
    @discardableResult
    func perform(_ actions: [PeerOffer.Action]) -> [Task<Void, any Error>] {
        updateTimer()
        return actions.map { action in
            MainLoop.start { [weak self] in
                do {
                    try await self?.tellBroker(action)
                } catch {
                    bridgeLog.debug("The broker did not take an offer: \(HandoffFailure(routed: error))")
                    throw error
                }
            }
        }
    }

    /// To be called whenever what is offered or left here may be other than before.
    func updateTimer() {
        if asleepSince != toldAsleepSince {
            toldAsleepSince = asleepSince
            owner.sleepChanged(of: device)
        }
        let now = MainLoop.bootClock
        let next = [offer.nextDeadline(at: now), aside.nextDeadline, sleep?.until].compactMap { $0 }.min()
        timer.set(next.map { MainLoop.now + $0 - now })
    }

    private func tellBroker(_ action: PeerOffer.Action) async throws {
        // Without a broker the offer waits for one.
        guard let broker = owner.brokersPeer(device) else { return }
        switch action {
        case .withdraw(let id): try await broker.withdraw(activity: id.description)
        case .invite(let id, let time):
            owner.brokerWillHear(of: device, invitedAt: time)
            try await broker.invite(activity: id.description)
        case .offer(let id, let summary):
            try await told(id, summary) { try await broker.offer(activity: id.description, summary: summary) }
        case .park(let id, let summary, let payload):
            try await told(id, summary) {
                try await broker.park(activity: id.description, summary: summary, payload: payload)
            }
        }
    }

    private func told(
        _ id: ActivityID, _ summary: [String: Value], _ tell: @MainLoop () async throws -> Void
    ) async throws {
        do {
            try await tell()
            offer.taken(id)
        } catch {
            let failure = HandoffFailure(routed: error)
            if failure.code != .connectionUnavailable { perform(offer.refused(id, summary)) }
            // Whoever has kept it may have been answered before there was a broker.
            if failure.code == .cancelled {
                MainLoop.start { [weak self] in try? await self?.tellDismissed(id) }
            }
            throw failure
        }
    }
}

/// What this device offers, as the broker said last.
struct OwnOffer: Equatable {
    let id: ActivityID
    /// The summary in the form that it has on a bus.
    let summary: [String: Value]
}

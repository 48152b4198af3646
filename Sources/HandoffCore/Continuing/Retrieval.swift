// SPDX-License-Identifier: LGPL-2.1-or-later

/// Getting a peer's activity for a continuation: `Fetch`, again if the link is lost, its document, and `Fetch` once more
/// if the activity has changed by the time it is needed.
struct Retrieval: Sendable {
    /// What an event leads to.
    enum Step: Hashable {
        /// Do this, which may be nothing, and look whether the activity is complete.
        case go([Continuation.Action])
        /// The activity cannot be had.
        case failed(HandoffFailure)
    }

    private enum State {
        /// Nothing was asked for.
        case new
        /// `Fetch` was called and has not been answered.
        case fetching(until: Instant)
        /// `Fetch` did not reach the peer, and is called again at `retry`, or when there is another link.
        case waiting(retry: Instant?, until: Instant)
        /// The activity is here; its document is expected in a shared folder.
        case awaitingDocument(until: Instant)
        /// The activity is here; its document is on its way, this fast. Silence lasts until then at most.
        case bringingDocument(DocumentPace, until: Instant)
        /// The activity is here with all that belongs to it.
        case complete
    }

    /// Each of the daemons on the way may be replaced while it is asked: the bridge here, the one there, and the broker.
    private static let maximumRetries = 3

    private let offer: Offer
    /// Whether its document is needed too.
    private let wantsDocument: Bool
    private var state = State.new
    private var offeredRevision: UInt64
    private var retries = 0
    private var hasRefreshed = false
    private var refreshes = 0

    /// What the last successful `Fetch` brought.
    private(set) var fetched: Continuation.Fetched?

    /// The activity of this offer is wanted.
    init(of offer: Offer, wantsDocument: Bool = true) {
        self.offer = offer
        self.wantsDocument = wantsDocument
        offeredRevision = offer.revision
    }

    /// Whether the activity is here with all that belongs to it.
    var isComplete: Bool {
        guard case .complete = state else { return false }
        return true
    }

    /// Whether an answer to `Fetch` that is summarised as `fetched` still counts, and is what was wanted.
    func isAwaiting(_ fetched: Offer) -> Bool {
        guard case .fetching = state else { return false }
        return offer.agrees(with: fetched)
    }

    /// Whether an answer to `Fetch` still counts.
    var isFetching: Bool {
        if case .fetching = state { true } else { false }
    }

    /// Fetches.
    mutating func begin(at now: Instant) -> [Continuation.Action] {
        state = .fetching(until: now.advanced(by: Deadline.fetch))
        return [.fetch]
    }

    /// How often a complete activity is fetched again: one that changes all the time is delivered too.
    private static let maximumRefreshes = 3

    /// Fetches a complete activity again if it has changed since, but only once, unless its document has come since: that
    /// takes time, in which it may change once more.
    mutating func refresh(at now: Instant) -> [Continuation.Action] {
        guard isComplete, !hasRefreshed, let fetched, fetched.offer.revision < offeredRevision else {
            return []
        }
        hasRefreshed = true
        refreshes += 1
        return begin(at: now)
    }

    /// The origin's activity has changed.
    mutating func offerRevised(to revision: UInt64) {
        offeredRevision = max(offeredRevision, revision)
    }

    /// `Fetch` was answered.
    mutating func fetched(_ fetched: Continuation.Fetched, at now: Instant) -> Step {
        guard case .fetching = state else { return .go([]) }
        guard offer.agrees(with: fetched.offer) else { return .failed(.offerChanged(offer)) }
        self.fetched = fetched
        switch fetched.document {
        case _ where !wantsDocument, .none, .present:
            state = .complete
            return .go([])
        case .awaited:
            state = .awaitingDocument(until: now.advanced(by: Deadline.synchronisation))
            return .go([.awaitDocument])
        case .remote:
            return bringDocument(at: now)
        }
    }

    /// `Fetch` failed. If an earlier call brought something, that is good enough; otherwise a lost link is
    /// worth a retry.
    mutating func fetchFailed(_ failure: HandoffFailure, isLinked: Bool, at now: Instant) -> Step {
        guard case .fetching(let until) = state else { return .go([]) }
        guard fetched == nil else {
            state = .complete
            return .go([])
        }
        guard failure.code == .connectionUnavailable, retries < Self.maximumRetries else {
            return .failed(failure)
        }
        retries += 1
        // The first time, the link may just have been replaced; later, something has to have come back first.
        if isLinked, retries == 1 { return .go([.fetch]) }
        state = .waiting(retry: isLinked ? now.advanced(by: Deadline.callRetry) : nil, until: until)
        return .go([])
    }

    /// There is a link again, or another one.
    mutating func linkRestored() -> Step {
        guard case .waiting(_, let until) = state else { return .go([]) }
        state = .fetching(until: until)
        return .go([.fetch])
    }

    /// Bytes of the document came: by now, there are `count` of `size`, if that is known.
    mutating func documentProgressed(to count: UInt64, of size: UInt64?, at now: Instant) {
        guard case .bringingDocument(var pace, _) = state else { return }
        pace.moved(count, of: size)
        // Once all of it is here, only the disk is waited for, as long as the origin waits for the acknowledgement.
        let isAllHere = size.map { count >= $0 } ?? false
        let patience = isAllHere ? Deadline.documentReceipt : Deadline.documentSilence
        state = .bringingDocument(pace, until: now.advanced(by: patience))
    }

    /// The document is a file of this machine now.
    mutating func documentArrived() -> Step {
        switch state {
        case .awaitingDocument, .bringingDocument:
            hasRefreshed = refreshes >= Self.maximumRefreshes
            fetched?.document = .present
            state = .complete
        case .new, .fetching, .waiting, .complete:
            break
        }
        return .go([])
    }

    /// The document did not come by the way that was tried.
    mutating func documentFailed(_ failure: HandoffFailure, at now: Instant) -> Step {
        switch state {
        case .awaitingDocument: bringDocument(at: now)
        case .bringingDocument: .failed(failure)
        case .new, .fetching, .waiting, .complete: .go([])
        }
    }

    var nextDeadline: Instant? {
        switch state {
        case .fetching(let until), .waiting(nil, let until), .awaitingDocument(let until): until
        case .waiting(let retry?, let until): min(retry, until)
        case .bringingDocument(let pace, let until): min(pace.periodEnd, until)
        case .new, .complete: nil
        }
    }

    /// The next deadline has passed.
    mutating func expire(at now: Instant) -> Step {
        switch state {
        case .fetching where fetched != nil:
            state = .complete
            return .go([])
        case .waiting(_?, let until) where now < until: return linkRestored()
        case .fetching, .waiting: return .failed(.fetchTimedOut(offer))
        case .awaitingDocument: return bringDocument(at: now)
        case .bringingDocument(var pace, let until):
            guard now < until else { return .failed(.documentTimedOut(offer)) }
            guard pace.advance(to: now) else { return .failed(.documentTooSlow(offer)) }
            state = .bringingDocument(pace, until: until)
            return .go([])
        case .new, .complete: return .go([])
        }
    }

    private mutating func bringDocument(at now: Instant) -> Step {
        state = .bringingDocument(
            DocumentPace(at: now), until: now.advanced(by: Deadline.documentSilence))
        return .go([.bringDocument])
    }
}

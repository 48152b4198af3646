// SPDX-License-Identifier: LGPL-2.1-or-later

/// The one question whether the user, who has come to this machine, wants to continue what another device offers.
///
/// It is asked at most once for each arrival, never while the session is locked, and taken back when there is nothing left
/// to ask. Offers that were pushed here are shown by ``InvitedNotices``.
///
/// Who wants to be asked about all that is new is asked about one thing of each peer at a time, at most once in ten seconds.
package struct Arrival: Sendable {
    /// When the user wants to be asked.
    package enum Setting: String, Sendable {
        /// When they come to this machine.
        case arrival
        /// Also whenever there is something new.
        case always
        case never
    }

    /// What is to be done.
    package enum Action: Equatable, Sendable {
        /// Ask about this offer, in place of whatever is asked now.
        case show(ShownOffer)
        /// Take the question back.
        case withdraw
    }

    /// How long ago something may have been used last to be worth asking about.
    package static let recent = Duration.seconds(1800)
    /// How long after waking up the offers of others may take to be here.
    package static let patience = Duration.seconds(15)
    /// Between two forms of one question, if it is only asked on arrival.
    package static let pace = Duration.seconds(1)
    /// Between two questions about one peer, or two forms of one, if the user is asked about all that is new.
    package static let paceOfPeers = NewOffers.pace

    private var setting = Setting.arrival
    private var offers: [ShownOffer] = []
    private var isLocked = true
    private var shown: ShownOffer?
    private var shownAt: Instant?
    /// Until when the first offer that comes belongs to the arrival.
    private var awaitedUntil: Instant?
    /// The offers that there have been, the latest last, so that none is new twice; nil until there has been a report.
    private var known: [String]?
    /// What of it has yet to be asked about.
    private var new = NewOffers()

    /// How many former offers are remembered.
    private static let maximumKnown = 64

    /// Nobody has come, and nothing is offered.
    package init() {}

    /// When ``advance(to:)`` has something to do; nil if time changes nothing.
    package var nextTime: Instant? {
        [nextChange, isLocked ? nil : new.nextTime].compactMap { $0 }.min()
    }

    /// These are the offers now, and what the user wants.
    package mutating func update(
        _ all: [ShownOffer], _ setting: Setting, at now: Moment
    ) -> [Action] {
        offers = all.filter { !$0.isInvited }
        self.setting = setting
        let actions = see(takeFresh(), at: now)
        guard actions.isEmpty else { return actions }
        guard let asked = shown else { return advance(to: now.instant) }
        guard setting != .never, let offer = offers.first(where: { $0.path == asked.path }),
            !offer.isContinuing
        else {
            shown = nil
            return [.withdraw] + advance(to: now.instant)
        }
        return advance(to: now.instant)
    }

    /// The user has come to this machine.
    package mutating func arrived(hasJustWokenUp: Bool, at now: Moment) -> [Action] {
        guard setting != .never, !isLocked else { return [] }
        awaitedUntil = nil
        if let offer = candidate(offers, at: now) {
            new.forget()
            // The former question may be out of sight: what only changes there would not be seen.
            return ask(offer, at: now.instant)
        }
        // What is offered may not be known yet.
        if hasJustWokenUp || known == nil { awaitedUntil = now.instant.advanced(by: Self.patience) }
        return []
    }

    /// Others could see from now on what is shown.
    package mutating func locked() -> [Action] {
        (isLocked, awaitedUntil) = (true, nil)
        new.forget()
        guard shown != nil else { return [] }
        shown = nil
        return [.withdraw]
    }

    /// Only the user sees from now on what is shown.
    package mutating func unlocked() { isLocked = false }

    /// The user has answered the question, or put it away.
    package mutating func closed() { shown = nil }

    /// Time has passed.
    package mutating func advance(to now: Instant) -> [Action] {
        if !isLocked, let offer = new.take(from: offers, at: now) { return ask(offer, at: now) }
        guard let nextChange, nextChange <= now, let current else { return [] }
        return [show(current, at: now)]
    }

    // MARK: Choosing

    /// What is asked about, as it is now.
    private var current: ShownOffer? { shown.flatMap { shown in offers.first { $0.path == shown.path } } }

    /// When the question may be asked in the form that it has now; nil if that is the form in which it is asked.
    private var nextChange: Instant? {
        hasChanged ? shownAt?.advanced(by: setting == .always ? Self.paceOfPeers : Self.pace) : nil
    }

    private var hasChanged: Bool {
        guard let shown, let current else { return false }
        return !current.reads(like: shown)
    }

    /// The offers that there have never been before; those that there were already when the first report came are not new,
    /// unless the user has come before it.
    private mutating func takeFresh() -> [ShownOffer] {
        let paths = offers.map(\.path)
        guard let former = known else {
            known = paths
            return awaitedUntil == nil ? [] : offers
        }
        let fresh = offers.filter { !former.contains($0.path) }
        known = (former.filter { !paths.contains($0) } + paths).suffix(Self.maximumKnown)
        return fresh
    }

    /// Asks about the first offers that come after an arrival; what is new otherwise waits for its turn.
    private mutating func see(_ fresh: [ShownOffer], at now: Moment) -> [Action] {
        // What was not asked about is new once more if it comes back.
        let gone = new.keep(offers)
        known?.removeAll(where: gone.contains)
        guard setting == .always, !isLocked else {
            new.forget()
            return askAboutAwaited(fresh, at: now)
        }
        let actions = askAboutAwaited(fresh, at: now)
        if actions.isEmpty { new.add(fresh, at: now.instant) }
        return actions
    }

    private mutating func askAboutAwaited(_ fresh: [ShownOffer], at now: Moment) -> [Action] {
        guard setting != .never, !isLocked, let awaitedUntil, now.instant <= awaitedUntil,
            let offer = candidate(fresh, at: now)
        else { return [] }
        self.awaitedUntil = nil
        return ask(offer, at: now.instant)
    }

    private func candidate(_ offers: [ShownOffer], at now: Moment) -> ShownOffer? {
        let (oldest, isTooOld) = now.wall.subtractingReportingOverflow(Self.recent.wholeMicroseconds)
        return offers.filter { !$0.isContinuing && (isTooOld || $0.lastUsed >= oldest) }.latest
    }

    /// Asks about `offer` in a question of its own.
    private mutating func ask(_ offer: ShownOffer, at now: Instant) -> [Action] {
        (shown == nil ? [] : [.withdraw]) + [show(offer, at: now)]
    }

    private mutating func show(_ offer: ShownOffer, at now: Instant) -> Action {
        (shown, shownAt) = (offer, now)
        new.asked(offer.deviceID, at: now)
        return .show(offer)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

// This file is long because what is current, offered, open and left elsewhere is one state, into which other files would have
// to reach.

/// The activities of this session, which of them is current, what peers are offered, and what is listed for them.
///
/// At most one activity is current, and at most that one is offered: while Handoff is on, the activity is
/// eligible, its application is not excluded, and its expiration date has not passed. An activity is open from when it
/// becomes current, or is opened, until it is resigned or over. Every event takes the time it happened at;
/// `advance(to:)` is to be called once `nextDeadline` has come, and after the machine slept or the wall clock
/// was set.
package struct SessionActivities: Sendable {
    /// What an event asks to be done, in this order.
    package enum Action: Hashable, Sendable {
        /// Tell all peers that this is offered; it replaces whatever was offered before.
        case offer(Offer)
        /// Tell all peers that this is no longer offered.
        case withdraw(ActivityID)
        /// Tell the owner whether the activity is current.
        case currentChanged(ActivityID, isCurrent: Bool)
        /// Free everything that belongs to the activity, which is gone.
        case invalidated(ActivityID)
    }

    private var activities: [ActivityID: SessionActivity] = [:]
    /// The activities of each connection that has any, in the order in which they were created.
    private var byConnection: [String: [ActivityID]] = [:]
    private var latest = Moment(instant: Instant(microseconds: 0), wall: 0)
    private var lastOffer = Instant(microseconds: 0)

    /// The activity that is current.
    package private(set) var current: ActivityID?
    /// What peers were last told is offered. Only this may be fetched.
    package private(set) var offered: Offer?
    /// Whether Handoff is on.
    package private(set) var isEnabled: Bool
    /// The activities that peers have fetched and not yet handed to an application there, and the first revision of each that
    /// was fetched.
    private var fetched: [ActivityID: UInt64] = [:]
    /// What was listed last for each peer, and when.
    private var listings: [DeviceID: (ids: Set<ActivityID>, time: Instant)] = [:]

    /// No activities, with Handoff on or off.
    package init(isEnabled: Bool) {
        self.isEnabled = isEnabled
    }

    /// The activity with this identifier; nil if there is none.
    package subscript(id: ActivityID) -> SessionActivity? {
        activities[id]
    }

    /// The activities that `connection` created, in that order.
    package func activities(of connection: String) -> [SessionActivity] {
        byConnection[connection, default: []].compactMap { activities[$0] }
    }

    /// Takes in a new activity, which is not current. Fails with `limitsExceeded` if the connection has as
    /// many as it may, and with `invalidArguments` if the identifier is in use.
    package mutating func create(
        _ id: ActivityID, connection: String, type: ActivityType, applicationID: ApplicationID,
        details: SessionActivity.Details
    ) throws(HandoffFailure) {
        guard activities[id] == nil else {
            throw HandoffFailure(.invalidArguments, "Activity \(id) exists already. Use a new identifier.")
        }
        guard byConnection[connection, default: []].count < Quota.activities else {
            throw .tooMany(
                "activities of one connection", limit: Quota.activities,
                advice: "Invalidate those that are no longer needed.")
        }
        activities[id] = SessionActivity(
            id: id, connection: connection, type: type, applicationID: applicationID, details: details)
        byConnection[connection, default: []].append(id)
    }

    /// The application changed the activity: `details` are as they are now, `payloadChanged` says whether
    /// anything else changed that a continuation would get, `isUsed` whether that is the user's doing. Peers
    /// are told what they see of it, at most every 100 ms; that there is a newer state at all, only if one of them is continuing
    /// an older one (``awaited(_:)``), and otherwise at most every five minutes.
    package mutating func update(
        _ id: ActivityID, details: SessionActivity.Details, payloadChanged: Bool, isUsed: Bool = false,
        at now: Moment
    ) throws(HandoffFailure) -> [Action] {
        guard var activity = activities[id] else { throw .unknownActivity(id) }
        latest = now
        if payloadChanged || activity.details != details {
            activity.revision += 1
            activity.isElsewhere = false
        }
        activity.details = details
        if isUsed { activity.lastUsed = now.wall }
        activities[id] = activity
        return offerOrWithdraw()
    }

    /// The user is using the activity, without anything having changed that peers see. They are told with the next change, and
    /// without one at most every five minutes.
    package mutating func use(_ id: ActivityID, at now: Moment) throws(HandoffFailure) -> [Action] {
        guard activities[id] != nil else { throw .unknownActivity(id) }
        latest = now
        activities[id]?.lastUsed = now.wall
        return offerOrWithdraw()
    }

    /// These are the activities that peers have fetched, as they are now or were before, and have not yet handed to an
    /// application there: they fetch them again if there is a newer state by then.
    package mutating func awaited(_ ids: Set<ActivityID>) {
        // This comes with each change of an activity, and nearly always nobody continues any.
        guard !ids.isEmpty || !fetched.isEmpty else { return }
        fetched = fetched.filter { ids.contains($0.key) }
        for id in ids where fetched[id] == nil { fetched[id] = activities[id]?.revision }
    }

    /// The activity becomes the current one, which counts as using it, also if it is that already; the one
    /// before it stops being current.
    package mutating func becomeCurrent(_ id: ActivityID, at now: Moment) throws(HandoffFailure) -> [Action] {
        guard activities[id] != nil else { throw .unknownActivity(id) }
        latest = now
        activities[id]?.lastUsed = now.wall
        activities[id]?.isElsewhere = false
        activities[id]?.isOpen = true
        guard current != id else { return offerOrWithdraw() }
        var actions: [Action] = []
        if let former = current { actions.append(.currentChanged(former, isCurrent: false)) }
        current = id
        activities[id]?.since = now.wall
        actions.append(.currentChanged(id, isCurrent: true))
        return offerOrWithdraw() + actions
    }

    /// The machine is about to sleep: what peers are offered is left with them.
    /// - Returns: what peers are to have of it; nil if nothing is offered.
    package mutating func park(at now: Moment) -> (offer: Offer?, actions: [Action]) {
        latest = now
        guard let wanted else { return (nil, offerOrWithdraw()) }
        activities[wanted.id]?.parked = wanted.revision
        // What is offered after the sleep must not be older than what was left.
        let actions: [Action] = wanted == offered ? [] : [.offer(wanted)]
        (offered, lastOffer) = (wanted, now.instant)
        return (wanted.withoutStreams, actions)
    }

    /// A peer has continued what was left with it, of this `revision`. Unless the activity has changed since, it is offered no
    /// more until it changes or becomes current. Fails with `unknownObject` if nothing like that was ever left with anybody.
    /// - Returns: whether that is news, and what follows from it.
    package mutating func continuedParked(
        _ id: ActivityID, _ continuation: ContinuationID, revision: UInt64, at now: Moment
    ) throws(HandoffFailure) -> (isNews: Bool, actions: [Action]) {
        guard let activity = activities[id], let parked = activity.parked, revision <= parked else {
            throw .unknownActivity(id)
        }
        guard !activity.continuations.contains(continuation) else { return (false, []) }
        latest = now
        activities[id]?.continuations.insert(continuation)
        if activity.revision <= revision { activities[id]?.isElsewhere = true }
        return (true, offerOrWithdraw())
    }

    /// The activity stops being current if it is, and is no longer open.
    package mutating func resignCurrent(_ id: ActivityID, at now: Moment) throws(HandoffFailure) -> [Action] {
        let actions = try leaveCurrent(id, at: now)
        activities[id]?.isOpen = false
        return actions
    }

    /// The activity stops being current if it is, and stays open.
    package mutating func leaveCurrent(_ id: ActivityID, at now: Moment) throws(HandoffFailure) -> [Action] {
        guard activities[id] != nil else { throw .unknownActivity(id) }
        latest = now
        guard current == id else { return offerOrWithdraw() }
        current = nil
        return [.currentChanged(id, isCurrent: false)] + offerOrWithdraw()
    }

    /// The activity is open from now on, which counts as using it, and is as current as it was.
    package mutating func becomeOpen(_ id: ActivityID, at now: Moment) throws(HandoffFailure) -> [Action] {
        guard activities[id] != nil else { throw .unknownActivity(id) }
        latest = now
        activities[id]?.lastUsed = now.wall
        activities[id]?.isElsewhere = false
        activities[id]?.isOpen = true
        return offerOrWithdraw()
    }

    /// The activity is over, here and on peers.
    package mutating func invalidate(_ id: ActivityID, at now: Moment) throws(HandoffFailure) -> [Action] {
        guard activities[id] != nil else { throw .unknownActivity(id) }
        latest = now
        return remove([id])
    }

    /// The connection unregistered or left the bus: its activities are over.
    package mutating func connectionVanished(_ connection: String, at now: Moment) -> [Action] {
        latest = now
        return remove(activities(of: connection).map(\.id))
    }

    /// The user switched Handoff on or off. The current activity remains current.
    package mutating func setEnabled(_ isEnabled: Bool, at now: Moment) -> [Action] {
        latest = now
        self.isEnabled = isEnabled
        return offerOrWithdraw()
    }

    // MARK: What is open

    /// What is open, for the user of a peer, who wants to see it: what would be offered if it were current, the latest used
    /// first, and not too much of one application. If `isShared` is false, it is what is offered. For as long as
    /// ``Deadline/listing`` that peer may fetch it. ``advance(to:)`` comes before. Fails with `disabled`, and with `limitsExceeded` if the peer has asked a
    /// moment ago.
    package mutating func list(
        for device: DeviceID, isShared: Bool, at now: Moment
    ) throws(HandoffFailure) -> [Offer] {
        guard isEnabled else { throw .disabledThere }
        if let last = listings[device], now.instant < last.time.advanced(by: Deadline.listingInterval) {
            throw HandoffFailure(
                .limitsExceeded, "What is open was listed for this device within the last second. Wait.")
        }
        let offers = isShared ? open.map(\.offer) : wanted.map { [$0] } ?? []
        // Devices come and go.
        listings = listings.filter { now.instant < $0.value.time.advanced(by: Deadline.listing) }
        listings[device] = (Set(offers.map(\.id)), now.instant)
        return offers
    }

    /// What is open, the latest used first, and not too much of one application.
    private var open: some Collection<SessionActivity> {
        let sorted = activities.values.filter { isOfferable($0) }.sorted { one, other in
            // The wall clock, by which the others are sorted, may have been set.
            if one.id == current || other.id == current { return one.id == current }
            return (one.lastUsed, one.id.description) > (other.lastUsed, other.id.description)
        }
        var counts: [ApplicationID: Int] = [:]
        return sorted.filter { activity in
            counts[activity.applicationID, default: 0] += 1
            return counts[activity.applicationID, default: 0] <= Quota.openOfApplication
        }.prefix(Quota.open)
    }

    /// What is open beside what is current, the latest used first, and no more of it than is listed.
    package var openAside: [ActivityID] { open.map(\.id).filter { $0 != current } }

    /// What is open beside what is current is left with peers, since the machine is about to sleep.
    /// - Returns: what peers are to have of it; nil if it is not open, or is current.
    package mutating func parkAside(_ id: ActivityID) -> Offer? {
        guard id != current, let activity = activities[id], isOfferable(activity) else { return nil }
        activities[id]?.parked = activity.revision
        return activity.offer.withoutStreams
    }

    /// `device` is no longer a peer.
    package mutating func forgetListing(for device: DeviceID) { listings[device] = nil }

    /// Whether `device` may fetch this activity: it is offered, or, if `isShared`, was listed for the device and is still open.
    package func isOffered(
        _ id: ActivityID, to device: DeviceID, isShared: Bool, at now: Instant
    ) -> Bool {
        if offered?.id == id { return true }
        guard isShared, let listing = listings[device], listing.ids.contains(id),
            now < listing.time.advanced(by: Deadline.listing)
        else { return false }
        return activities[id].map { isOfferable($0) } ?? false
    }

    /// What its user has left last, and would be offered if it were current; nil while there is a current activity. What has
    /// never been current was not left.
    package var left: Offer? {
        guard current == nil else { return nil }
        return activities.values.filter { $0.since != 0 && isOfferable($0) }
            .max { ($0.lastUsed, $0.id.description) < ($1.lastUsed, $1.id.description) }?.offer
    }

    /// Whether an activity would be offered if it were current, and is open.
    private func isOfferable(_ activity: SessionActivity) -> Bool {
        activity.isOpen && obstacle(to: activity) == nil
    }

    /// When `advance(to:)` has something to do at the latest; nil if time changes nothing.
    package var nextDeadline: Instant? {
        guard let wanted, let activity = activities[wanted.id] else { return nil }
        var deadlines: [Instant] = []
        if let offered, offered != wanted {
            deadlines.append(lastOffer.advanced(by: interval(from: offered, to: wanted)))
        }
        if activity.details.expirationDate != 0 {
            let (left, tooFar) = activity.details.expirationDate.subtractingReportingOverflow(latest.wall)
            let wait = tooFar ? Deadline.dateCheck : min(.microseconds(left), Deadline.dateCheck)
            deadlines.append(latest.instant.advanced(by: wait))
        }
        return deadlines.min()
    }

    /// Time has passed.
    package mutating func advance(to now: Moment) -> [Action] {
        latest = now
        return offerOrWithdraw()
    }

    /// What ought to be offered.
    private var wanted: Offer? {
        guard let current, let activity = activities[current], obstacle(to: activity) == nil else {
            return nil
        }
        return activity.offer
    }

    /// Why the current activity is not offered, and what to do; empty if it is, or if there is none.
    package var whyNotOffered: String {
        current.flatMap { activities[$0] }.flatMap { obstacle(to: $0) } ?? ""
    }

    /// What keeps `activity` from being offered while it is current, and what to do about that; nil if nothing does.
    private func obstacle(to activity: SessionActivity) -> String? {
        if !isEnabled { return "Handoff is switched off. Switch it on (handoff on)." }
        if activity.details.isExcluded {
            return "The user has excluded its application. Include it again in the settings of Handoff."
        }
        if !activity.details.isEligibleForHandoff {
            return "Its application has set EligibleForHandoff to false. Set it to true."
        }
        if activity.isElsewhere {
            return
                "It was continued on another device, as it was when this one slept. Change it, or make it current."
        }
        guard activity.isExpired(at: latest.wall) else { return nil }
        return "Its ExpirationDate has passed. Set a later one, or 0 for none."
    }

    /// Brings what is offered in line with what ought to be, unless peers were told of this activity a moment
    /// ago.
    private mutating func offerOrWithdraw() -> [Action] {
        guard let wanted else {
            guard let former = offered else { return [] }
            offered = nil
            return [.withdraw(former.id)]
        }
        guard wanted != offered else { return [] }
        if let offered, offered.id == wanted.id {
            let next = lastOffer.advanced(by: interval(from: offered, to: wanted))
            guard next <= latest.instant else { return [] }
        }
        offered = wanted
        lastOffer = latest.instant
        return [.offer(wanted)]
    }

    /// How long after `offered` was told of an activity `wanted` may be told of it.
    private func interval(from offered: Offer, to wanted: Offer) -> Duration {
        let isAwaited = fetched[wanted.id].map { wanted.revision > $0 } == true
        return !isAwaited && wanted.looksLike(offered) ? Deadline.useInterval : Deadline.offerInterval
    }

    private mutating func remove(_ ids: [ActivityID]) -> [Action] {
        for id in ids {
            if let connection = activities.removeValue(forKey: id)?.connection { forget(id, of: connection) }
            if current == id { current = nil }
        }
        return offerOrWithdraw() + ids.map { .invalidated($0) }
    }

    private mutating func forget(_ id: ActivityID, of connection: String) {
        byConnection[connection]?.removeAll { $0 == id }
        if byConnection[connection]?.isEmpty == true { byConnection[connection] = nil }
    }
}

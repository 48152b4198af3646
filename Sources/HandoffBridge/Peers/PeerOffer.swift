// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

/// The one offer of a peer, and whether its user has sent it here, as far as the bridge remembers it, so that the broker
/// can be told of it again, that it outlives a change of links, and that no peer makes offers or sends them faster than
/// allowed.
///
/// Times are microseconds of a monotonic clock that goes on while the machine sleeps.
struct PeerOffer {
    /// What the broker is to be told.
    enum Action: Equatable {
        case offer(ActivityID, [String: Value])
        /// It is left here with this state.
        case park(ActivityID, [String: Value], PackedProperties)
        case withdraw(ActivityID)
        /// It was sent here at this time of the wall clock.
        case invite(ActivityID, at: Int64)
    }

    /// How far the broker knows that the offer was sent here.
    private enum Invitation {
        /// It was not, or somebody here has begun to continue it.
        case none
        /// The broker has yet to be told.
        case due
        /// The broker was told.
        case told
    }

    private struct Held {
        let id: ActivityID
        let summary: [String: Value]
        /// The number of the link on which the offer was made.
        let link: Int
        /// Whether the broker has yet to be told of it.
        var isDue: Bool
        var invitation: Invitation = .none
        /// When it was sent here last, by the wall clock; 0 if it was not.
        var invitedAt: Int64 = 0
        /// What the peer has left here of it before it slept.
        var parked: Parked?
    }

    /// What a peer has left here, since when, and until when it stays.
    struct Parked: Equatable {
        let payload: PackedProperties
        var since: Int64 = 0
        let until: Int64
    }

    /// How many offers are passed on in a second; if there are more, the latest counts.
    static let maximumRate = 10
    /// How many invitations are passed on in a second.
    static let maximumInvitations = 1
    /// How often a peer may leave something here, in ten seconds.
    static let maximumParked = 1
    /// How long what was left here stays, sleep included.
    static let parkedTime: Int64 = 12 * 3600 * 1_000_000
    /// How long an offer stays without a link.
    static let withoutLink: Int64 = 5_000_000
    /// How long an offer stays on a new link without being repeated.
    static let unrepeated: Int64 = 1_000_000

    private var held: Held?
    /// The number of the current link.
    private var current: Int?
    /// The offer that the broker was told of last, and the offer that it took the place of.
    private var told: ActivityID?
    private var replaced: ActivityID?
    private var rate = EventRate(limit: maximumRate)
    private var invitationRate = EventRate(limit: maximumInvitations)
    private var parkingRate = EventRate(limit: maximumParked, period: .seconds(10))
    private var expiry: Int64?

    /// The peer offers `id`, in place of what it offered before.
    mutating func offered(
        _ id: ActivityID, _ summary: [String: Value], link: Int, at now: Int64, _ parked: Parked? = nil
    ) -> [Action] {
        let former = held?.id == id ? held : nil
        held = Held(
            id: id, summary: summary, link: link, isDue: true, invitation: former?.invitation ?? .none,
            invitedAt: former?.invitedAt ?? 0, parked: parked)
        expiry = nil
        return tell(at: now)
    }

    /// The peer leaves `id` here, in place of what it offered before.
    /// - Returns: nil if it has left something just before.
    mutating func left(
        _ id: ActivityID, _ summary: [String: Value], _ parked: Parked, link: Int, at now: Int64
    ) -> [Action]? {
        guard parkingRate.count(at: Instant(microseconds: now)) else { return nil }
        let actions = offered(id, summary, link: link, at: now, parked)
        // Whoever leaves waits for the answer.
        return actions.isEmpty ? tell(at: now, isUrgent: true) : actions
    }

    /// What is offered; nil if nothing is.
    var id: ActivityID? { held?.id }
    /// What the peer has left here; nil if nothing is.
    var parked: Parked? { held?.parked }

    /// The activity that is left here, and its summary; nil if nothing is.
    var parkedOffer: (id: ActivityID, summary: [String: Value])? {
        held.flatMap { $0.parked == nil ? nil : ($0.id, $0.summary) }
    }

    /// What is left here has to go, or only if it is this activity.
    mutating func dropParked(_ id: ActivityID? = nil) -> [Action] {
        guard let held, held.parked != nil, held.id == id ?? held.id else { return [] }
        return end()
    }

    /// The peer no longer offers `id`.
    mutating func withdrawn(_ id: ActivityID) -> [Action] { held?.id == id ? end() : [] }

    /// The user of the peer has sent `id` here, at the time `wall` of the wall clock.
    /// - Returns: nil if that is not what the peer offers.
    mutating func invited(_ id: ActivityID, wall: Int64 = 0, at now: Int64) -> [Action]? {
        guard held?.id == id else { return nil }
        held?.invitation = .due
        held?.invitedAt = wall
        return tell(at: now)
    }

    /// Nobody has to be told any more that `id` was sent here, or whatever is offered.
    mutating func invitationEnded(_ id: ActivityID? = nil) {
        if id == nil || held?.id == id { held?.invitation = .none }
    }

    /// There is a link now, with this number. What was offered on another has to be repeated.
    mutating func linked(_ link: Int, at now: Int64) {
        current = link
        guard let held else { return }
        expiry = held.link == link ? nil : now + Self.unrepeated
    }

    /// There is no link any more.
    mutating func unlinked(at now: Int64) {
        current = nil
        if let held, held.parked == nil { expiry = now + Self.withoutLink }
    }

    /// The link with this number has ended. If it ended in order, the offer ends with it, unless another link
    /// has taken its place; otherwise the offer stays for a while. What is left here stays anyway.
    mutating func ended(_ link: Int, inOrder: Bool, at now: Int64) -> [Action] {
        guard let held, held.parked == nil, link == current ?? held.link else { return [] }
        if inOrder { return end() }
        expiry = expiry ?? now + Self.withoutLink
        return []
    }

    /// There is a new broker, which knows nothing yet.
    mutating func brokerAppeared(at now: Int64) -> [Action] {
        told = nil
        held?.isDue = true
        if held?.invitation == .told { held?.invitation = .due }
        return tell(at: now)
    }

    /// The broker has taken the offer `id`, and forgotten the one that it took the place of.
    mutating func taken(_ id: ActivityID) {
        if told == id { replaced = nil }
    }

    /// The broker has refused the offer `id` with this summary. Unless there is a newer summary, the offer no longer counts,
    /// and neither does the one that it was to replace.
    mutating func refused(_ id: ActivityID, _ summary: [String: Value]) -> [Action] {
        guard held?.id == id, held?.summary == summary else { return [] }
        if let replaced { told = replaced }
        return end()
    }

    /// When ``advance(to:)`` has something to do; nil if time changes nothing.
    func nextDeadline(at now: Int64) -> Int64? {
        let now = Instant(microseconds: now)
        // An invitation is told behind its offer.
        let due =
            held?.isDue == true
            ? rate.nextAllowed(at: now)
            : held?.invitation == .due ? invitationRate.nextAllowed(at: now) : nil
        return [due?.microseconds, expiry, parked?.until].compactMap { $0 }.min()
    }

    /// Time has passed.
    mutating func advance(to now: Int64) -> [Action] {
        if let end = [expiry, parked?.until].compactMap({ $0 }).min(), end <= now { return self.end() }
        return tell(at: now)
    }

    private mutating func tell(at now: Int64, isUrgent: Bool = false) -> [Action] {
        let now = Instant(microseconds: now)
        return tellOffer(at: now, isUrgent) + tellInvitation(at: now)
    }

    private mutating func tellOffer(at now: Instant, _ isUrgent: Bool) -> [Action] {
        guard let offer = held, offer.isDue, rate.count(at: now) || isUrgent else { return [] }
        held?.isDue = false
        if told != offer.id { replaced = told }
        told = offer.id
        return [
            offer.parked.map { .park(offer.id, offer.summary, $0.payload) } ?? .offer(offer.id, offer.summary)
        ]
    }

    private mutating func tellInvitation(at now: Instant) -> [Action] {
        guard let offer = held, !offer.isDue, offer.invitation == .due, invitationRate.count(at: now) else {
            return []
        }
        held?.invitation = .told
        return [.invite(offer.id, at: offer.invitedAt)]
    }

    private mutating func end() -> [Action] {
        held = nil
        expiry = nil
        defer { (told, replaced) = (nil, nil) }
        return told.map { [.withdraw($0)] } ?? []
    }
}

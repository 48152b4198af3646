// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

/// All that a peer offers here: its own offer, and beside it what it has kept for this device while that was away.
///
/// Times are as in ``PeerOffer``.
struct PeerOffers {
    typealias Action = PeerOffer.Action

    /// How many activities a peer may have kept for this device.
    static let maximumKept = 16

    private var own = PeerOffer()
    private var kept: [ActivityID: PeerOffer] = [:]
    /// How many come in a second, whatever becomes of those before.
    private var rate = EventRate(limit: maximumKept)

    /// The peer offers `id`: in place of what it offered before, or beside it, since it has kept it for this device.
    /// - Throws: `limitsExceeded` if it has kept too much, `invalidArguments` if `id` has another place.
    mutating func offered(
        _ id: ActivityID, _ summary: [String: Value], isKept: Bool, link: Int, at now: Int64
    ) throws(HandoffFailure) -> [Action] {
        guard isKept ? own.id != id : kept[id] == nil else {
            throw Self.elsewhere(id)
        }
        guard isKept else { return own.offered(id, summary, link: link, at: now) }
        if kept[id] == nil {
            guard kept.count < Self.maximumKept, rate.count(at: Instant(microseconds: now)) else {
                throw HandoffFailure(
                    .limitsExceeded,
                    "\(Self.maximumKept) activities that were kept for this device are offered already, or came within"
                        + " a second. Wait before the next.")
            }
            kept[id] = PeerOffer()
            kept[id]?.linked(link, at: now)
        }
        return kept[id]?.offered(id, summary, link: link, at: now) ?? []
    }

    /// The peer leaves `id` here, as ``PeerOffer/left(_:_:_:link:at:)`` says.
    /// - Throws: `invalidArguments` if `id` has another place.
    mutating func left(
        _ id: ActivityID, _ summary: [String: Value], _ parked: PeerOffer.Parked, link: Int, at now: Int64
    ) throws(HandoffFailure) -> [Action]? {
        guard kept[id] == nil else { throw Self.elsewhere(id) }
        return own.left(id, summary, parked, link: link, at: now)
    }

    private static func elsewhere(_ id: ActivityID) -> HandoffFailure {
        HandoffFailure(
            .invalidArguments, "Activity \(id) is offered already, and Kept differs. Offer another activity.")
    }

    /// What the peer has left here; nil if nothing is.
    var parked: PeerOffer.Parked? { own.parked }

    /// The activity that is left here, and its summary; nil if nothing is.
    var parkedOffer: (id: ActivityID, summary: [String: Value])? { own.parkedOffer }

    /// What is left here has to go, or only if it is this activity.
    mutating func dropParked(_ id: ActivityID?) -> [Action] { own.dropParked(id) }

    /// The peer no longer offers `id`, or nobody here wants it any more.
    mutating func withdrawn(_ id: ActivityID) -> [Action] { change(id) { $0.withdrawn(id) } }

    /// Whether `id` is offered.
    func holds(_ id: ActivityID) -> Bool { own.id == id || kept[id] != nil }

    /// The user of the peer has sent `id` here, as ``PeerOffer/invited(_:wall:at:)`` says.
    mutating func invited(_ id: ActivityID, wall: Int64, at now: Int64) -> [Action]? {
        change(id) { $0.invited(id, wall: wall, at: now) }
    }

    /// Nobody has to be told any more that `id` was sent here, or whatever is offered.
    mutating func invitationEnded(_ id: ActivityID?) { changeAll { $0.invitationEnded(id) } }

    /// There is a link now, with this number.
    mutating func linked(_ link: Int, at now: Int64) { changeAll { $0.linked(link, at: now) } }

    /// There is no link any more.
    mutating func unlinked(at now: Int64) { changeAll { $0.unlinked(at: now) } }

    /// The link with this number has ended.
    mutating func ended(_ link: Int, inOrder: Bool, at now: Int64) -> [Action] {
        collect { $0.ended(link, inOrder: inOrder, at: now) }
    }

    /// There is a new broker, which knows nothing yet.
    mutating func brokerAppeared(at now: Int64) -> [Action] { collect { $0.brokerAppeared(at: now) } }

    /// The broker has taken the offer `id`.
    mutating func taken(_ id: ActivityID) { change(id) { $0.taken(id) } }

    /// The broker has refused the offer `id` with this summary.
    mutating func refused(_ id: ActivityID, _ summary: [String: Value]) -> [Action] {
        change(id) { $0.refused(id, summary) }
    }

    /// When ``advance(to:)`` has something to do; nil if time changes nothing.
    func nextDeadline(at now: Int64) -> Int64? {
        kept.values.reduce(own.nextDeadline(at: now)) { earliest, one in
            [earliest, one.nextDeadline(at: now)].compactMap { $0 }.min()
        }
    }

    /// Time has passed.
    mutating func advance(to now: Int64) -> [Action] { collect { $0.advance(to: now) } }

    private mutating func change<Result>(_ id: ActivityID, _ body: (inout PeerOffer) -> Result) -> Result {
        guard var one = kept[id] else { return body(&own) }
        defer { kept[id] = one.id == nil ? nil : one }
        return body(&one)
    }

    private mutating func changeAll(_ body: (inout PeerOffer) -> Void) {
        _ = collect {
            body(&$0)
            return []
        }
    }

    private mutating func collect(_ body: (inout PeerOffer) -> [Action]) -> [Action] {
        var actions = body(&own)
        if kept.isEmpty { return actions }
        for id in kept.keys.sorted(by: { $0.description < $1.description }) { actions += change(id, body) }
        return actions
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

/// What a peer has left here beside what it offered, before it slept: what else was open there. The broker is told of it when
/// its user asks, and fetches it from here, as long as there is no link.
///
/// Times are as in ``PeerOffer``.
struct LeftAside {
    /// One of them.
    struct Item {
        let id: ActivityID
        /// Its summary, in the form that it has on a bus.
        let summary: [String: Value]
        let parked: PeerOffer.Parked
        /// How many bytes its state takes.
        fileprivate let size: Int
    }

    private var items: [Item] = []
    /// The number of the link over which all of them came.
    private var link: Int?
    private var rate = EventRate(limit: Quota.openLeft, period: .seconds(10))

    /// The peer leaves `id` here over this link. What it left over another one goes.
    /// - Throws: `limitsExceeded` if it has left too much.
    mutating func left(
        _ id: ActivityID, _ summary: [String: Value], _ parked: PeerOffer.Parked, size: Int, link: Int,
        at now: Int64
    ) throws(HandoffFailure) {
        let others = link == self.link ? items.filter { $0.id != id } : []
        let all = others.reduce(size) { $0 + $1.size }
        guard size <= Quota.payloadOfOpenLeft, all <= Quota.payloadOfAllOpenLeft,
            others.count < Quota.openLeft, rate.count(at: Instant(microseconds: now))
        else {
            throw HandoffFailure(
                .limitsExceeded,
                "\(Quota.openLeft) activities of \(Quota.payloadOfOpenLeft) bytes each, and of"
                    + " \(Quota.payloadOfAllOpenLeft) together, may be left beside what is offered, in ten seconds."
                    + " Leave no more.")
        }
        items = others + [Item(id: id, summary: summary, parked: parked, size: size)]
        self.link = link
    }

    /// There is a link now, with this number: what was left before is not wanted any more.
    mutating func linked(_ link: Int) {
        if self.link != link { drop() }
    }

    /// What is left here has to go, or only this activity.
    mutating func drop(_ id: ActivityID? = nil) { items.removeAll { id == nil || $0.id == id } }

    /// What is here, in the order in which it came.
    func items(at now: Int64) -> [Item] { items.filter { $0.parked.until > now } }

    /// What came first; nil if nothing is here.
    var first: Item? { items.first }

    /// When ``advance(to:)`` has something to do; nil if time changes nothing.
    var nextDeadline: Int64? { items.map(\.parked.until).min() }

    /// Time has passed.
    mutating func advance(to now: Int64) { items = items(at: now) }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// Which connections may wait for the end of their opening, before anybody knows whose they are (protocol.md, "Limits").
///
/// They are counted by source first, and then in all. Sources at which a peer may be keep a share for themselves that
/// strangers elsewhere cannot take. What has matched is to be taken out, and counts elsewhere.
package struct OpeningQuota: Sendable {
    /// Connections of one source that wait, and those of it that may begin in a second.
    package static let (socketsOfSource, openingsOfSource) = (4, 5)
    /// The same two limits for all sources together.
    package static let (sockets, openings) = (64, 50)
    /// How many of both a source at which a peer may be has for itself.
    package static let share = 2

    /// What becomes of a connection that has come.
    package enum Decision: Equatable, Sendable {
        /// It may wait, and is known by this number. The connection `dropping`, if any, has to make room for
        /// it.
        case admit(Int, dropping: Int?)
        /// Too many come from its source.
        case refuseSource
        /// Too many come from all sources together.
        case refuseAll
    }

    private struct Waiting {
        let number: Int
        let source: String
        let since: Instant
        /// Whether it takes its place from the share of a peer.
        let isShared: Bool
    }

    private struct Source {
        /// The connections of it that began.
        var all = EventRate(limit: OpeningQuota.openingsOfSource)
        /// Those that took the share of a peer.
        var shared = EventRate(limit: OpeningQuota.share)
    }

    /// The connections that wait, the oldest first.
    private var waiting: [Waiting] = []
    private var sources: [String: Source] = [:]
    /// The connections that began at the expense of all.
    private var common = EventRate(limit: openings)
    private var nextNumber = 0

    /// How many sources are remembered before the ones that can be forgotten are looked for.
    private static let manySources = 256

    /// Nobody waits.
    package init() {}

    /// How many wait.
    package var count: Int { waiting.count }

    /// A connection has come from `source`.
    /// - Parameters:
    ///   - extra: how many more connections from it are expected, because tokens were given for them.
    ///   - mayBePeer: whether a peer may be there. It is asked only if it matters.
    package mutating func arrived(
        from source: String, extra: Int = 0, at now: Instant, mayBePeer: () -> Bool
    ) -> Decision {
        var known = sources[source] ?? Source()
        guard known.all.allows(extra: extra, at: now) else { return .refuseSource }
        var dropped: Int?
        let own = waiting.filter { $0.source == source }
        if own.count >= Self.socketsOfSource + extra { dropped = own.first?.number }
        let sharedSockets = own.count { $0.isShared && $0.number != dropped }
        let isShared =
            sharedSockets < Self.share && known.shared.allows(at: now) && mayBePeer()
        if !isShared {
            guard common.allows(at: now) else { return .refuseAll }
            let others = waiting.filter { !$0.isShared && $0.number != dropped }
            if dropped == nil, others.count >= Self.sockets {
                dropped = Crowd.victim(among: others.map(\.source)).map { others[$0].number }
            }
            common.add(at: now)
        } else {
            known.shared.add(at: now)
        }
        known.all.add(at: now)
        if sources.count >= Self.manySources { forgetSources(at: now) }
        sources[source] = known
        if let dropped { waiting.removeAll { $0.number == dropped } }
        nextNumber += 1
        waiting.append(Waiting(number: nextNumber, source: source, since: now, isShared: isShared))
        return .admit(nextNumber, dropping: dropped)
    }

    /// It has become known whose connection this is. From now on it counts elsewhere, as if it had never come
    /// here.
    package mutating func matched(_ number: Int) {
        guard let one = waiting.first(where: { $0.number == number }) else { return }
        ended(number)
        sources[one.source]?.all.remove(one.since)
        if one.isShared { sources[one.source]?.shared.remove(one.since) } else { common.remove(one.since) }
    }

    /// A connection no longer waits.
    package mutating func ended(_ number: Int) { waiting.removeAll { $0.number == number } }

    /// No connection waits any longer.
    package mutating func endAll() { waiting = [] }

    private mutating func forgetSources(at now: Instant) {
        sources = sources.filter { !$0.value.all.isIdle(at: now) }
    }
}

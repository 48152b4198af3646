// SPDX-License-Identifier: LGPL-2.1-or-later

/// Strangers who have come past the opening, and whose handshake, which is costly, is yet to begin or under way
/// (protocol.md, "Limits"). The sources take turns.
package struct StrangerQueue: Sendable {
    /// How many strangers there may be at a time. If there are more, the oldest one of the source that has
    /// the most has to go.
    package static let maximum = 8
    /// How many handshakes may begin in a second.
    package static let rate = 2

    private struct Stranger {
        let number: Int
        let source: String
        var hasBegun = false
    }

    /// The strangers that are here, the oldest first.
    private var strangers: [Stranger] = []
    /// When the latest handshakes began.
    private var starts = EventRate(limit: rate)
    /// When the latest handshake of each source began.
    private var latest: [String: Instant] = [:]

    /// How long it is remembered that a source has had its turn.
    private static let memory = Duration.seconds(10)

    /// Nobody is there.
    package init() {}

    /// How many there are.
    package var count: Int { strangers.count }

    /// A stranger has come.
    /// - Returns: the number of the one that has to make room for it; nil if there was room.
    package mutating func arrived(_ number: Int, from source: String) -> Int? {
        var dropped: Int?
        if strangers.count >= Self.maximum, let index = Crowd.victim(among: strangers.map(\.source)) {
            dropped = strangers.remove(at: index).number
        }
        strangers.append(Stranger(number: number, source: source))
        return dropped
    }

    /// A stranger is gone, or has become a link.
    package mutating func ended(_ number: Int) { strangers.removeAll { $0.number == number } }

    /// All are gone.
    package mutating func endAll() { strangers = [] }

    /// The number of the stranger whose handshake is to begin now; nil if there is none.
    package mutating func next(at now: Instant) -> Int? {
        forget(before: now)
        guard starts.allows(at: now) else { return nil }
        let waiting = strangers.indices.filter { !strangers[$0].hasBegun }
        // Within one source, and among sources that have not had a turn yet, the oldest stranger comes first.
        let turn = waiting.min { one, other in
            let (first, second) = (latest[strangers[one].source], latest[strangers[other].source])
            return first == second ? one < other : precedes(first, second)
        }
        guard let turn else { return nil }
        strangers[turn].hasBegun = true
        starts.add(at: now)
        latest[strangers[turn].source] = now
        return strangers[turn].number
    }

    /// Whether a source whose turn was at `one` comes before one whose turn was at `other`: nil for none yet.
    private func precedes(_ one: Instant?, _ other: Instant?) -> Bool {
        guard let other else { return false }
        guard let one else { return true }
        return one < other
    }

    /// When ``next(at:)`` may have somebody; nil if nobody waits.
    package func nextDeadline(at now: Instant) -> Instant? {
        strangers.contains { !$0.hasBegun } ? starts.nextAllowed(at: now) : nil
    }

    private mutating func forget(before now: Instant) {
        let limit = now.advanced(by: .zero - Self.memory)
        latest = latest.filter { $0.value > limit }
    }
}

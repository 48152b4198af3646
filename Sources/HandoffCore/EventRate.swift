// SPDX-License-Identifier: LGPL-2.1-or-later

/// Counts events against a limit for any one second, or another time.
package struct EventRate: Sendable {
    /// How many there may be within ``period``.
    package let limit: Int
    /// The time that the limit is for.
    package let period: Duration
    /// When the events were that count still, the oldest first.
    private var times: [Instant] = []

    /// Nothing has happened.
    package init(limit: Int, period: Duration = .seconds(1)) {
        self.limit = limit
        self.period = period
    }

    /// Whether an event at `now` is within the limit, and so many `extra` ones.
    package func allows(extra: Int = 0, at now: Instant) -> Bool { recent(now).count < limit + extra }

    /// Counts an event at `now`, whatever the limit is.
    package mutating func add(at now: Instant) {
        times.removeFirst(times.count - recent(now).count)
        times.append(now)
    }

    /// Counts an event at `now` if it is within the limit.
    /// - Returns: whether it is.
    package mutating func count(at now: Instant) -> Bool {
        guard allows(at: now) else { return false }
        add(at: now)
        return true
    }

    /// The event that was counted at `time` counts no longer.
    package mutating func remove(_ time: Instant) {
        if let index = times.firstIndex(of: time) { times.remove(at: index) }
    }

    /// When the next event is within the limit: `now` or later.
    package func nextAllowed(at now: Instant) -> Instant {
        let recent = recent(now)
        guard recent.count >= limit else { return now }
        return recent[recent.endIndex - limit].advanced(by: period)
    }

    /// Whether nothing of what has happened matters any more.
    package func isIdle(at now: Instant) -> Bool { recent(now).isEmpty }

    private func recent(_ now: Instant) -> ArraySlice<Instant> {
        let limit = now.advanced(by: .zero - period)
        return times.drop { $0 <= limit }
    }
}

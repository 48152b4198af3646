// SPDX-License-Identifier: LGPL-2.1-or-later

/// Counts events against a limit for any one second, or another time.
struct EventRate {
    /// How many there may be within ``period``.
    let limit: Int
    /// In microseconds.
    let period: Int64
    /// The times of the latest events, at most `limit`, in microseconds.
    private var times: [Int64] = []

    init(limit: Int, period: Int64 = 1_000_000) {
        self.limit = limit
        self.period = period
    }

    /// Counts an event at `now` if it is within the limit.
    /// - Returns: whether it is.
    mutating func count(at now: Int64) -> Bool {
        guard nextAllowed(at: now) <= now else { return false }
        if times.count == limit { times.removeFirst() }
        times.append(now)
        return true
    }

    /// When the next event is within the limit: `now` or later.
    func nextAllowed(at now: Int64) -> Int64 {
        guard times.count == limit, let oldest = times.first else { return now }
        return max(now, oldest + period)
    }
}

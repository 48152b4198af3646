// SPDX-License-Identifier: LGPL-2.1-or-later

/// How much processor time others may make this device spend, each and all together.
///
/// Time is counted in windows of ``window``. Whoever has used up its own budget in a window has to wait for
/// the next one. When the budget of all together is used up, everybody has to wait, except for those that
/// have hardly taken anything: they are not to pay for what others have taken. What was taken beyond a budget
/// is deducted from the next windows. Whoever has used up ``longBudget`` within ``longTime`` is barred for
/// that long.
package struct TimeBudgets: Sendable {
    /// A device, or nil for all unknown ones together.
    package typealias Key = DeviceID?

    /// How long a window is.
    package static let window: Duration = .milliseconds(100)
    /// What each may take of a window.
    package static let budget: Duration = .milliseconds(20)
    /// What all together may take of a window.
    package static let budgetOfAll: Duration = .milliseconds(50)
    /// What one may still take of a window when all together have used it up.
    package static let little: Duration = .milliseconds(2)
    /// What all together may still take of a window in that case, which is room for ten of them. Together
    /// with the budget of all, this leaves the user 30 ms of each window, however many others there are.
    package static let budgetOfLittle: Duration = .milliseconds(20)
    /// The time over which each is also counted, and for which it is barred.
    package static let longTime: Duration = .seconds(60)
    /// What each may take of ``longTime``.
    package static let longBudget: Duration = .seconds(10)

    /// Whether somebody may have something done.
    package enum Standing: Equatable, Sendable {
        /// It may have something done.
        case free
        /// It has to wait until this instant.
        case held(until: Instant)
        /// It has been barred until this instant.
        case barred(until: Instant)
    }

    private struct Account {
        /// What was taken of this window, in nanoseconds.
        var taken: Int64 = 0
        /// What was taken in each of the last parts of ``TimeBudgets/longTime``, by the number of the part.
        var history: [(part: Int64, taken: Int64)] = []
        var barred: Instant?
    }

    /// How many parts ``longTime`` is counted in; whatever is older than that is forgotten.
    private static let parts: Int64 = 60
    private static let partLength = longTime.wholeMicroseconds / parts
    // These are in the units that time is counted in, since they are needed for each message.
    private static let windowLength = window.wholeMicroseconds
    private static let (oneBudget, allBudget) = (nanoseconds(budget), nanoseconds(budgetOfAll))
    private static let (littleTime, littleBudget) = (nanoseconds(little), nanoseconds(budgetOfLittle))
    private static let longBudgetTime = nanoseconds(longBudget)

    private var accounts: [Key: Account] = [:]
    private var takenByAll: Int64 = 0
    /// What was taken, after all together had used up their budget, by those that had hardly taken anything.
    private var takenAsLittle: Int64 = 0
    private var windowBegin = Instant(microseconds: .min / 4)

    /// Nobody has taken anything.
    package init() {}

    /// How many are remembered.
    package var count: Int { accounts.count }

    /// `key` has taken `nanoseconds` of processor time, which ended at `now`.
    /// - Returns: whether it is barred because of that.
    package mutating func took(_ nanoseconds: Int64, _ key: Key, at now: Instant) -> Bool {
        begin(now)
        let nanoseconds = max(0, nanoseconds)
        var account = accounts[key] ?? Account()
        let little =
            takenByAll < Self.allBudget ? 0 : min(nanoseconds, max(0, Self.littleTime - account.taken))
        account.taken += nanoseconds
        takenAsLittle += little
        takenByAll += nanoseconds - little
        let part = now.microseconds / Self.partLength
        account.history.removeAll { $0.part <= part - Self.parts }
        if account.history.last?.part == part {
            account.history[account.history.count - 1].taken += nanoseconds
        } else {
            account.history.append((part, nanoseconds))
        }
        let isTooMuch = account.history.reduce(0) { $0 + $1.taken } >= Self.longBudgetTime
        if isTooMuch {
            account.barred = now.advanced(by: Self.longTime)
            account.history = []
        }
        accounts[key] = account
        return isTooMuch
    }

    /// Whether `key` may have something done at `now`.
    package mutating func standing(of key: Key, at now: Instant) -> Standing {
        begin(now)
        if let barred = accounts[key]?.barred, now < barred { return .barred(until: barred) }
        return pace(of: key, at: now)
    }

    /// The standing of `key` for work that is done even for those who are barred, at the pace of the windows:
    /// it is never `barred`.
    package mutating func pace(of key: Key, at now: Instant) -> Standing {
        begin(now)
        let taken = accounts[key]?.taken ?? 0
        if taken < Self.oneBudget, takenByAll < Self.allBudget { return .free }
        if taken < Self.littleTime, takenAsLittle < Self.littleBudget { return .free }
        return .held(until: windowBegin.advanced(by: Self.window))
    }

    /// What `key` has taken of the window of `now`, in nanoseconds, including what it took too much in
    /// earlier windows.
    package mutating func taken(by key: Key, at now: Instant) -> Int64 {
        begin(now)
        return accounts[key]?.taken ?? 0
    }

    /// Begins a new window if the last one is over, and forgets those that have taken nothing for a long
    /// time.
    private mutating func begin(_ now: Instant) {
        let passed = (now.microseconds - windowBegin.microseconds) / Self.windowLength
        guard passed >= 1 else { return }
        windowBegin = now
        takenByAll = Self.left(of: takenByAll, after: passed, Self.allBudget)
        takenAsLittle = Self.left(of: takenAsLittle, after: passed, Self.littleBudget)
        let oldest = now.microseconds / Self.partLength - Self.parts
        for (key, account) in accounts {
            var account = account
            account.taken = Self.left(of: account.taken, after: passed, Self.oneBudget)
            if let barred = account.barred, barred <= now { account.barred = nil }
            let isOld =
                account.taken == 0 && account.barred == nil
                && (account.history.last?.part ?? oldest) <= oldest
            accounts[key] = isOld ? nil : account
        }
    }

    /// How much of `taken` still counts after `windows` windows, each of which has paid off one budget.
    private static func left(of taken: Int64, after windows: Int64, _ budget: Int64) -> Int64 {
        let (paid, isMore) = windows.multipliedReportingOverflow(by: budget)
        return isMore ? 0 : max(0, taken - paid)
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 { duration.wholeMicroseconds * 1000 }
}

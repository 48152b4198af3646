// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is known of one site: whom it has given its pages, and when it was asked. All times are microseconds since the
/// Unix epoch.
package struct Site: Hashable, Sendable {
    /// Those who claim its pages now, written `TEAM.APPLICATION_ID`.
    package private(set) var claimed: Set<String> = []
    /// Those whom the site was last asked about.
    package private(set) var considered: Set<String>
    /// Those of them whom it has approved of.
    package private(set) var approved: Set<String>
    /// When it has last said so; 0 for never.
    package private(set) var answeredAt: Int64
    /// When it was last asked; 0 for never.
    package private(set) var askedAt: Int64
    /// How many times in a row it could not be asked.
    package private(set) var failures: Int

    /// How long what a site has said is good, in microseconds.
    private static let day: Int64 = 24 * hour
    /// How long after a first failure a site is asked again.
    private static let hour: Int64 = 3600 * 1_000_000
    /// How much sooner than necessary a site is asked together with others.
    private static let together: Int64 = 12 * hour
    /// How long what a site has said counts while it cannot be asked.
    private static let patience: Int64 = 7 * day

    /// A site of which this is known, by default nothing.
    package init(
        considered: Set<String> = [], approved: Set<String> = [], answeredAt: Int64 = 0, askedAt: Int64 = 0,
        failures: Int = 0
    ) {
        self.considered = considered
        self.approved = approved.intersection(considered)
        self.answeredAt = answeredAt
        self.askedAt = askedAt
        self.failures = min(max(failures, 0), 2)
    }

    /// Whether it has never been asked.
    var isUnknown: Bool { askedAt == 0 }

    /// Its pages are claimed by these now, and nobody else.
    mutating func claim(by names: Set<String>) {
        claimed = names
        approved.formIntersection(names)
        // Who claims it anew later is a new claim then.
        considered.formIntersection(names)
    }

    /// Whether it has approved of `name`.
    func approves(of name: String, at now: Int64) -> Bool {
        // What the future holds is looked at again before it counts for long: see `notice`.
        approved.contains(name) && now < answeredAt.saturatingSum(Self.patience)
    }

    /// When it is to be asked: at once if it was not asked about all who claim it.
    var dueTime: Int64 {
        guard !isUnknown, claimed.isSubset(of: considered) else { return .min }
        return askedAt.saturatingSum(failures == 1 ? Self.hour : Self.day)
    }

    /// Whether it is asked as well if others are at `now`.
    func isWorthAsking(at now: Int64) -> Bool {
        dueTime <= now || failures != 1 && askedAt.saturatingSum(Self.together) <= now
    }

    /// The time is `now`. If the clock has been set back, it is not known how long ago anything was, so the site is asked.
    mutating func notice(_ now: Int64) {
        answeredAt = min(answeredAt, now)
        if askedAt > now { askedAt = 0 }
    }

    /// This came of asking it.
    mutating func answered(_ answer: SiteAnswer, at now: Int64) {
        askedAt = max(now, 1)
        considered = claimed
        switch answer {
        case .approved(let names):
            (approved, answeredAt, failures) = (names.intersection(claimed), now, 0)
        case .nothing:
            (approved, answeredAt, failures) = ([], now, 0)
        case .failed:
            failures = min(failures + 1, 2)
        }
    }
}

extension Int64 {
    /// The sum, cut to what can be written.
    fileprivate func saturatingSum(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is shown of continuations: that one is under way once it has taken half a second, unless its application shows that
/// itself, and why one has failed. Nothing is shown while the session is locked.
package struct ProgressNotices: Sendable {
    /// Why a continuation has failed.
    package struct Failure: Equatable, Sendable {
        /// What was to be continued.
        package var offer: ShownOffer
        /// Why it was not, and what to do, for people to read.
        package let message: String
        /// What else is said of it, by whoever has failed; may be empty.
        package let detail: String
        /// Whether trying again can help.
        package var canTryAgain: Bool

        /// A failure.
        package init(offer: ShownOffer, message: String, detail: String = "", canTryAgain: Bool) {
            self.offer = offer
            self.message = message
            self.detail = detail
            self.canTryAgain = canTryAgain
        }
    }

    /// What is to be done.
    package enum Action: Equatable, Sendable {
        /// Say that the continuation of this offer is under way, in place of what is said of it.
        case show(ShownOffer)
        /// Say that it has failed, in place of what is said of it.
        case fail(Failure)
        /// Take back what is said of the offer at this path.
        case withdraw(path: String)
    }

    /// How long a continuation may take without anything being shown.
    package static let patience = Duration.milliseconds(500)
    /// Between two reports of progress.
    package static let pace = Duration.seconds(1)
    /// How many failures are kept.
    package static let maximumFailures = 8

    private struct Run {
        var offer: ShownOffer
        /// When something of it may be shown, or shown again.
        var time: Instant
        var shown: ShownOffer?
        var isClosed = false
        /// Whether it was begun here, and is over only once its outcome is known.
        var isOwn = false

        var isBehind: Bool {
            guard !isClosed, !offer.isShownByApplication else { return false }
            guard let shown else { return true }
            return shown.percentage != offer.percentage || !shown.reads(like: offer)
        }
    }

    private var runs: [String: Run] = [:]
    private var failures: [Failure] = []
    /// The offers whose failure has not been shown yet.
    private var unseen: Set<String> = []
    private var isLocked = true

    /// Nothing is continued.
    package init() {}

    /// When ``advance(to:)`` has something to do; nil if time changes nothing.
    package var nextTime: Instant? { isLocked ? nil : runs.values.filter(\.isBehind).map(\.time).min() }

    /// The continuation of this offer was asked for here.
    package mutating func began(_ offer: ShownOffer, at now: Instant) -> [Action] {
        let former = forget(offer.path)
        if runs[offer.path] == nil { begin(offer, at: now) }
        runs[offer.path]?.isOwn = true
        return former
    }

    /// A continuation that was asked for here is over; `failure` says why it has failed, nil if it has not.
    package mutating func finished(path: String, _ failure: Failure?) -> [Action] {
        let run = runs.removeValue(forKey: path)
        guard let failure else { return run?.shown == nil ? [] : [.withdraw(path: path)] }
        failures.removeAll { $0.offer.path == path }
        failures.append(failure)
        if isLocked { unseen.insert(path) } else { unseen.remove(path) }
        var actions: [Action] = []
        if failures.count > Self.maximumFailures {
            actions.append(.withdraw(path: failures.removeFirst().offer.path))
        }
        if !isLocked { actions.append(.fail(failure)) }
        return actions
    }

    /// These are the offers now.
    package mutating func update(_ offers: [ShownOffer], at now: Instant) -> [Action] {
        var actions: [Action] = []
        let continuing = offers.filter(\.isContinuing)
        for offer in continuing {
            if runs[offer.path] == nil {
                actions += forget(offer.path)
                begin(offer, at: now)
            }
            runs[offer.path]?.offer = offer
        }
        for (path, run) in runs.sorted(by: { $0.key < $1.key })
        where !run.isOwn && !continuing.contains(where: { $0.path == path }) {
            runs[path] = nil
            if run.shown != nil { actions.append(.withdraw(path: path)) }
        }
        for (index, failure) in failures.enumerated()
        where failure.canTryAgain && !offers.contains(where: { $0.path == failure.offer.path }) {
            failures[index].canTryAgain = false
            if !isLocked { actions.append(.fail(failures[index])) }
        }
        return actions + advance(to: now)
    }

    /// Others could see from now on what is shown. Unless it `isKnown` what the user has put away, that may be all of it, and
    /// of that only what is under way comes back.
    package mutating func locked(isKnown: Bool = true) -> [Action] {
        isLocked = true
        let shown = runs.keys.sorted().filter { runs[$0]?.shown != nil }
        for path in shown { runs[path]?.shown = nil }
        let failed = failures.map(\.offer.path)
        if !isKnown { failures.removeAll { !unseen.contains($0.offer.path) } }
        return (shown + failed).map { .withdraw(path: $0) }
    }

    /// Only the user sees from now on what is shown.
    package mutating func unlocked(at now: Instant) -> [Action] {
        (isLocked, unseen) = (false, [])
        return failures.map { .fail($0) } + advance(to: now)
    }

    /// The user has answered what was shown of the offer at this path, or put it away.
    package mutating func closed(path: String) {
        failures.removeAll { $0.offer.path == path }
        runs[path]?.shown = nil
        runs[path]?.isClosed = true
    }

    /// Time has passed.
    package mutating func advance(to now: Instant) -> [Action] {
        guard !isLocked else { return [] }
        var actions: [Action] = []
        for (path, run) in runs.sorted(by: { $0.key < $1.key }) {
            if run.shown != nil, run.offer.isShownByApplication {
                runs[path]?.shown = nil
                actions.append(.withdraw(path: path))
            } else if run.isBehind, run.time <= now {
                runs[path]?.shown = run.offer
                runs[path]?.time = now.advanced(by: Self.pace)
                actions.append(.show(run.offer))
            }
        }
        return actions
    }

    private mutating func begin(_ offer: ShownOffer, at now: Instant) {
        runs[offer.path] = Run(offer: offer, time: now.advanced(by: Self.patience))
    }

    /// A failure is out of date as soon as it is tried again.
    private mutating func forget(_ path: String) -> [Action] {
        guard failures.contains(where: { $0.offer.path == path }) else { return [] }
        failures.removeAll { $0.offer.path == path }
        return isLocked ? [] : [.withdraw(path: path)]
    }
}

extension ShownOffer {
    /// How far it has come in hundredths; nil if that is not known.
    package var percentage: Int? {
        progress.flatMap { $0.isFinite ? Int((min(max($0, 0), 1) * 100).rounded(.down)) : nil }
    }
}

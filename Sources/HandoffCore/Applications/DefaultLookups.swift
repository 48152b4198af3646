// SPDX-License-Identifier: LGPL-2.1-or-later

/// Which application the user's desktop opens each content type with, as far as that has been looked up, and what is to be
/// looked up next. Nothing is before somebody has asked for it; one look runs at a time, for all that has been asked for.
///
/// Types are chosen by peers. So there is a rest between looks, the number of answers is limited, and whoever waits for
/// one type waits for no other.
package struct DefaultLookups: Sendable {
    /// The answers, nil for none, by content type.
    private var answers: [String: ApplicationID?] = [:]
    /// What is to be looked up next.
    private var wanted: Set<String> = []
    /// What is being looked up; empty if nothing is.
    private var looking: Set<String> = []
    /// When the look that is under way began.
    private var begun = Instant(microseconds: 0)
    /// Whether something has changed since then.
    private var isOutdated = false
    /// The earliest time for the next look.
    private var earliest = Instant(microseconds: 0)

    /// How many answers are kept, and how many types are looked up at a time: more than there are peers.
    package static let maximumAnswers = 256
    /// How long nothing is looked up after a look, at least: a program that never stops writing lists must not keep the
    /// reader busy.
    package static let shortestRest = Duration.milliseconds(200)
    /// How long nothing is looked up after a look that could not be made.
    package static let restAfterFailure = Duration.seconds(1)
    /// The rest is at least this many times as long as the look was.
    package static let restfulness = 20

    /// Nothing is known.
    package init() {}

    /// When something is to be looked up; nil if nothing is, or as long as a look is under way.
    package var nextTime: Instant? { looking.isEmpty && !wanted.isEmpty ? earliest : nil }

    /// What is known of `type`: nil if nothing opens it, or if that is not known yet. Then it is looked up.
    package mutating func answer(_ type: String) -> ApplicationID? {
        if let known = answers[type] { return known }
        guard !looking.contains(type) else { return nil }
        if answers.count + wanted.count >= Self.maximumAnswers { answers = [:] }
        if wanted.count < Self.maximumAnswers { wanted.insert(type) }
        return nil
    }

    /// Whether any of `types` is being looked up, or is to be.
    package func isPending(_ types: some Sequence<String>) -> Bool {
        types.contains { looking.contains($0) || wanted.contains($0) }
    }

    /// What the answers depend on has changed: all that are known are looked up again.
    package mutating func changed() {
        isOutdated = !looking.isEmpty
        wanted.formUnion(answers.keys)
    }

    /// A look begins.
    /// - Returns: what is to be looked up; empty if it is not time for that.
    package mutating func begin(at now: Instant) -> Set<String> {
        guard let time = nextTime, time <= now else { return [] }
        (looking, wanted, isOutdated, begun) = (wanted, [], false, now)
        return looking
    }

    /// The look is over, and has `found` what opens some of the types; nothing opens the others.
    /// - Returns: whether any answer is another one than before.
    package mutating func ended(_ found: [String: ApplicationID], at now: Instant) -> Bool {
        let types = looking
        guard !types.isEmpty else { return false }
        let isChanged = types.contains { (answers[$0] ?? nil) != found[$0] }
        for type in types { answers[type] = .some(found[type]) }
        if isOutdated { wanted.formUnion(types) }
        looking = []
        earliest = now.advanced(by: max(Self.shortestRest, begun.duration(to: now) * Self.restfulness))
        return isChanged
    }

    /// The look could not be made: what was to be looked up is still not known, and is looked up after a rest.
    package mutating func failed(at now: Instant) {
        wanted.formUnion(looking)
        looking = []
        earliest = now.advanced(by: Self.restAfterFailure)
    }
}

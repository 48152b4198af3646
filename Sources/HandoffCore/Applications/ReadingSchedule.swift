// SPDX-License-Identifier: LGPL-2.1-or-later

/// When something that changes is read again: never twice at a time, not at once after each change, and the less often
/// the longer it takes.
package struct ReadingSchedule: Sendable {
    private enum State {
        /// There is nothing to read.
        case idle
        /// It is to be read at this time.
        case due(Instant)
        /// It is being read since then. What has changed meanwhile is to be read once more.
        case reading(since: Instant, isOutdated: Bool)
    }

    private var state = State.idle
    /// How long to wait for more after the first change.
    private var patience = shortestPatience

    /// The wait after a change, at least: an installation writes many files, and a program that never stops writing must
    /// not keep the reader busy.
    package static let shortestPatience = Duration.milliseconds(200)
    /// The wait is at least this many times as long as reading takes.
    package static let restfulness = 20
    /// How long to wait before trying again to read what could not be read.
    package static let retryInterval = Duration.seconds(2)

    /// Nothing has been read, and nothing is to be.
    package init() {}

    /// Whether it is being read.
    package var isReading: Bool { if case .reading = state { true } else { false } }

    /// When it is to be read next; nil as long as nothing has changed, or while it is being read.
    package var nextTime: Instant? { if case .due(let time) = state { time } else { nil } }

    /// What is read has changed. It is read some time later: what never comes to rest is read again and again, not never.
    package mutating func changed(at now: Instant) {
        switch state {
        case .idle: state = .due(now.advanced(by: patience))
        case .due: break
        case .reading(let since, _): state = .reading(since: since, isOutdated: true)
        }
    }

    /// It is to be read now.
    /// - Returns: whether reading begins; false if it is being read already.
    package mutating func begin(at now: Instant) -> Bool {
        guard !isReading else { return false }
        state = .reading(since: now, isOutdated: false)
        return true
    }

    /// It has been read, or `isIncomplete`: could not be read for the time being, and is tried again.
    package mutating func ended(isIncomplete: Bool = false, at now: Instant) {
        guard case .reading(let since, let isOutdated) = state else { return }
        patience = max(Self.shortestPatience, since.duration(to: now) * Self.restfulness)
        if isIncomplete {
            state = .due(now.advanced(by: max(Self.retryInterval, patience)))
        } else {
            state = isOutdated ? .due(now.advanced(by: patience)) : .idle
        }
    }
}

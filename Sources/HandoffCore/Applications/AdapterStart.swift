// SPDX-License-Identifier: LGPL-2.1-or-later

/// When one adapter is to be started: when one of its applications appears, and the less often the sooner it fails or ends.
package struct AdapterStart: Sendable {
    private enum State {
        /// It does not run.
        case ended
        /// The bus has been asked to start it.
        case starting
        /// It runs since then.
        case running(since: Instant)
    }

    private var state = State.ended
    private var backoff = Backoff()
    /// Before this it is not started.
    private var notBefore: Instant?
    /// When one of its applications appeared last while it was not to be started, or ran already.
    private var appearance: Instant?

    /// An adapter that ran for as long as this has not failed. It is less than one runs for that has something to do, which
    /// ends in order when its last application does.
    package static let trial = Duration.seconds(5)
    /// An application that appears less than this before its adapter ends may not have been noticed by it.
    package static let overlap = Duration.seconds(2)

    /// It does not run.
    package init() {}

    /// When it is to be asked again, with ``isDue(at:)``; nil for never.
    package var nextTime: Instant? {
        guard case .ended = state, appearance != nil else { return nil }
        return notBefore
    }

    /// One of its applications has appeared.
    /// - Returns: whether it is to be started now; then either ``failed(at:using:)`` or ``runs(at:)`` has to follow.
    package mutating func appeared(at now: Instant) -> Bool {
        appearance = now
        return isDue(at: now)
    }

    /// Whether it is to be started now, since one of its applications has appeared; then either ``failed(at:using:)`` or
    /// ``runs(at:)`` has to follow.
    package mutating func isDue(at now: Instant) -> Bool {
        guard case .ended = state, appearance != nil, notBefore.map({ $0 <= now }) ?? true else {
            return false
        }
        (state, appearance) = (.starting, nil)
        return true
    }

    /// None of its applications is there any more, or it is not wanted: nothing is to be started until one appears.
    package mutating func forgetAppearance() { appearance = nil }

    /// It could not be started.
    package mutating func failed(at now: Instant, using generator: inout some RandomNumberGenerator) {
        guard case .starting = state else { return }
        // What has appeared meanwhile did not help.
        (state, appearance) = (.ended, nil)
        notBefore = now.advanced(by: backoff.next(using: &generator))
    }

    /// It runs, whoever has started it.
    package mutating func runs(at now: Instant) {
        if case .running = state { return }
        (state, appearance) = (.running(since: now), nil)
    }

    /// It runs no longer.
    package mutating func ended(at now: Instant, using generator: inout some RandomNumberGenerator) {
        guard case .running(let since) = state else { return }
        state = .ended
        if since.duration(to: now) >= Self.trial { backoff.reset() }
        notBefore = now.advanced(by: backoff.next(using: &generator))
        if let time = appearance, time.duration(to: now) > Self.overlap { appearance = nil }
    }
}

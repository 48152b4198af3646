// SPDX-License-Identifier: LGPL-2.1-or-later

/// The end of a continuation that succeeded: the origin is told until it acknowledges, and the application
/// holds the continuation, for its streams, for as long as it likes. When both are over, the origin may
/// forget it.
struct Confirmation: Sendable {
    private enum State {
        /// `Continued` was called and has not been answered.
        case calling(until: Instant)
        /// `Continued` did not reach the peer, and is called again at `retry` or when there is a link.
        case waiting(retry: Instant?, until: Instant)
        /// The origin knows, or never will; the application holds the continuation.
        case held
        /// The origin was told to forget it.
        case over
    }

    private var state: State
    private var isHeld: Bool

    /// `Continued` is being called. `isHeld`: whether the application holds the continuation.
    init(isHeld: Bool, at now: Instant) {
        self.isHeld = isHeld
        state = .calling(until: now.advanced(by: Deadline.withoutLink))
    }

    /// The peer replied, in whatever way.
    mutating func acknowledged() -> [Continuation.Action] {
        switch state {
        case .calling, .waiting:
            state = .held
            return isHeld ? [] : release()
        case .held, .over:
            return []
        }
    }

    /// The call did not reach the peer. If the link is alive, there is another attempt in a second;
    /// otherwise, as soon as there is a link again.
    mutating func failed(isLinked: Bool, at now: Instant) {
        guard case .calling(let until) = state else { return }
        let retry = isLinked ? now.advanced(by: Deadline.callRetry) : nil
        state = .waiting(retry: retry, until: until)
    }

    /// There is a link again, or another one. A call that is pending on the former link will fail on its own.
    mutating func linkRestored() -> [Continuation.Action] {
        guard case .waiting(_, let until) = state else { return [] }
        state = .calling(until: until)
        return [.confirmContinued]
    }

    /// The application no longer holds the continuation.
    mutating func letGo() -> [Continuation.Action] {
        isHeld = false
        guard case .held = state else { return [] }
        return release()
    }

    var nextDeadline: Instant? {
        switch state {
        case .calling(let until), .waiting(nil, let until): until
        case .waiting(let retry?, let until): min(retry, until)
        case .held, .over: nil
        }
    }

    /// The next deadline has passed.
    mutating func expire(at now: Instant) -> [Continuation.Action] {
        switch state {
        case .calling(let until), .waiting(_, let until):
            return until <= now ? acknowledged() : linkRestored()
        case .held, .over:
            return []
        }
    }

    private mutating func release() -> [Continuation.Action] {
        state = .over
        return [.release]
    }
}

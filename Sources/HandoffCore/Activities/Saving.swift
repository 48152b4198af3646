// SPDX-License-Identifier: LGPL-2.1-or-later

/// When the application of one activity is asked to bring its state up to date (`WillSave`), and what waits
/// for that.
///
/// At most one `WillSave` runs at a time. A continuation waits for one if the state was never saved or is out
/// of date. Otherwise only the current activity is asked, once `NeedsSave` is set, and at most once a second.
package struct Saving: Sendable {
    /// Why a `WillSave` brought nothing.
    package enum Reason: Hashable, Sendable {
        /// No answer came within two seconds.
        case timedOut
        /// The application answered with an error, whose message this is.
        case failed(String)
        /// The activity is gone; there is no state to hand off.
        case invalidated
    }

    /// What an event asks to be done, in this order.
    package enum Action: Hashable, Sendable {
        /// Tell the owner that `NeedsSave` has this value now.
        case needsSaveChanged(Bool)
        /// Call `WillSave`, and report the answer under this number.
        case askWillSave(attempt: UInt64)
        /// The state is up to date: these continuations may have it.
        case saved([ContinuationID])
        /// The state could not be brought up to date. Log it, and give these continuations, if any, the last
        /// state; if the activity is gone, refuse them.
        case gaveUp(Reason, [ContinuationID])
    }

    /// A `WillSave` that is running.
    private struct Attempt {
        let number: UInt64
        let deadline: Instant
        /// The continuations that get what it brings.
        var waiters: [ContinuationID]
        /// The continuations that came after the state had changed again, and so need another `WillSave`.
        var latecomers: [ContinuationID] = []
    }

    private enum State {
        /// Nobody is being asked.
        case idle
        /// `WillSave` was called and has not been answered.
        case asking(Attempt)
        /// The activity is gone; nothing happens any more.
        case ended
    }

    private var state = State.idle
    private var isCurrent = false
    private var isUpToDate = false
    private var lastAsked: Instant?
    private var attempts: UInt64 = 0

    /// The property `NeedsSave`.
    package private(set) var needsSave = false

    /// An activity that was never saved and is not current.
    package init() {}

    /// Whether an answer to the `WillSave` of this number still counts; if not, it is to be thrown away.
    package func isAwaiting(attempt: UInt64) -> Bool {
        guard case .asking(let running) = state else { return false }
        return running.number == attempt
    }

    /// The application wrote `NeedsSave`.
    package mutating func setNeedsSave(_ needsSave: Bool, at now: Instant) -> [Action] {
        if case .ended = state { return [] }
        guard self.needsSave != needsSave else { return [] }
        self.needsSave = needsSave
        return [.needsSaveChanged(needsSave)] + autosave(at: now)
    }

    /// The activity became current, or stopped being current.
    package mutating func setCurrent(_ isCurrent: Bool, at now: Instant) -> [Action] {
        self.isCurrent = isCurrent
        return autosave(at: now)
    }

    /// A continuation needs the state: it is answered by `saved` or `gaveUp`, at once if the state is up to
    /// date.
    package mutating func request(_ continuation: ContinuationID, at now: Instant) -> [Action] {
        switch state {
        case .idle:
            if isUpToDate && !needsSave { return [.saved([continuation])] }
            return ask(for: [continuation], at: now)
        case .asking(var attempt):
            guard !(attempt.waiters + attempt.latecomers).contains(continuation) else { return [] }
            if needsSave {
                attempt.latecomers.append(continuation)
            } else {
                attempt.waiters.append(continuation)
            }
            state = .asking(attempt)
            return []
        case .ended:
            return [.gaveUp(.invalidated, [continuation])]
        }
    }

    /// A continuation no longer waits.
    package mutating func forget(_ continuation: ContinuationID) {
        guard case .asking(var attempt) = state else { return }
        attempt.waiters.removeAll { $0 == continuation }
        attempt.latecomers.removeAll { $0 == continuation }
        state = .asking(attempt)
    }

    /// `WillSave` was answered, and what it brought has been taken over. Having no opinion counts as an
    /// answer.
    /// - Parameter isPassing: whether that is out of date as soon as it is said, as the position in a film is: then the next
    ///   continuation asks again, and nobody does in between.
    package mutating func answered(
        attempt number: UInt64, isPassing: Bool = false, at now: Instant
    ) -> [Action] {
        guard case .asking(let attempt) = state, attempt.number == number else { return [] }
        isUpToDate = !isPassing
        return conclude(attempt, with: attempt.waiters.isEmpty ? [] : [.saved(attempt.waiters)], at: now)
    }

    /// `WillSave` was answered with an error, or what it brought was refused.
    package mutating func failed(attempt number: UInt64, message: String, at now: Instant) -> [Action] {
        guard case .asking(let attempt) = state, attempt.number == number else { return [] }
        return giveUp(attempt, .failed(PeerText.message(message)), at: now)
    }

    /// The activity is gone.
    package mutating func invalidate() -> [Action] {
        defer { state = .ended }
        guard case .asking(let attempt) = state else { return [] }
        let waiters = attempt.waiters + attempt.latecomers
        return waiters.isEmpty ? [] : [.gaveUp(.invalidated, waiters)]
    }

    /// When `advance(to:)` has something to do; nil if time changes nothing.
    package var nextDeadline: Instant? {
        switch state {
        case .idle: isCurrent && needsSave ? lastAsked?.advanced(by: Deadline.autosave) : nil
        case .asking(let attempt): attempt.deadline
        case .ended: nil
        }
    }

    /// Time has passed.
    package mutating func advance(to now: Instant) -> [Action] {
        guard case .asking(let attempt) = state else { return autosave(at: now) }
        return attempt.deadline <= now ? giveUp(attempt, .timedOut, at: now) : []
    }

    private mutating func ask(for waiters: [ContinuationID], at now: Instant) -> [Action] {
        attempts += 1
        lastAsked = now
        state = .asking(
            Attempt(number: attempts, deadline: now.advanced(by: Deadline.willSave), waiters: waiters))
        defer { needsSave = false }
        return [.askWillSave(attempt: attempts)] + (needsSave ? [.needsSaveChanged(false)] : [])
    }

    /// Calls `WillSave` without a continuation if the activity is current, its state out of date, and the
    /// last call long enough ago.
    private mutating func autosave(at now: Instant) -> [Action] {
        guard case .idle = state, isCurrent, needsSave else { return [] }
        if let lastAsked, now < lastAsked.advanced(by: Deadline.autosave) { return [] }
        return ask(for: [], at: now)
    }

    /// What the application has not saved stays out of date, so that the next continuation asks again;
    /// `NeedsSave` is left alone, or an application that hangs would be asked every second.
    private mutating func giveUp(_ attempt: Attempt, _ reason: Reason, at now: Instant) -> [Action] {
        isUpToDate = false
        return conclude(attempt, with: [.gaveUp(reason, attempt.waiters)], at: now)
    }

    private mutating func conclude(_ attempt: Attempt, with actions: [Action], at now: Instant) -> [Action] {
        state = .idle
        guard attempt.latecomers.isEmpty else { return actions + ask(for: attempt.latecomers, at: now) }
        return actions + autosave(at: now)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffDaemon
internal import MainLoop

/// Repeats an attempt to reach one peer, less and less often.
@MainLoop
final class Redial {
    private let attempt: @MainLoop @Sendable () async -> Void
    private let done: @MainLoop @Sendable () -> Void
    private var backoff = Backoff()
    private var timer: LoopSource?
    private var task: Task<Void, Never>?
    private var isStopped = false
    /// Whether there was a reason for another attempt while one was under way that did not know of it yet.
    private var isDue = false

    /// Calls `attempt` when it is time, and then `done`, which calls ``schedule()`` if another attempt is
    /// needed.
    init(
        attempt: @escaping @MainLoop @Sendable () async -> Void,
        done: @escaping @MainLoop @Sendable () -> Void
    ) {
        self.attempt = attempt
        self.done = done
    }

    /// Sees to it that there will be an attempt.
    func schedule() {
        guard task == nil, timer == nil, !isStopped else { return }
        if isDue { return now() }
        var generator = SystemRandomNumberGenerator()
        timer = .timer(after: backoff.next(using: &generator)) { [weak self] in self?.now() }
    }

    /// Makes the next attempt now, or as soon as the one that is under way has failed.
    func now() {
        guard !isStopped else { return }
        guard task == nil else {
            isDue = true
            return
        }
        isDue = false
        timer = nil
        task = MainLoop.start { [weak self, attempt] in
            await attempt()
            guard let self, !isStopped else { return }
            task = nil
            done()
        }
    }

    /// No further attempt is needed for now.
    func pause() {
        timer = nil
        isDue = false
    }

    /// The next wait is short again.
    func reset() { backoff.reset() }

    /// Makes no further attempts, and ends the one that is under way.
    func stop() {
        isStopped = true
        timer = nil
        task?.cancel()
    }
}

/// How long to wait before each further attempt: twice as long each time, up to a limit, and shortened at
/// random by up to a half, so that two devices do not keep in step. The limit is low for about a minute,
/// since what has just gone may be about to return.
struct Backoff {
    /// The longest wait before the first repetition.
    static let first = Duration.milliseconds(300)
    /// The longest wait before any of the first ``manyAtFirst`` repetitions.
    static let longestAtFirst = Duration.milliseconds(2400)
    /// How many repetitions the low limit is for.
    static let manyAtFirst = 32
    /// The longest wait before any repetition.
    static let longest = Duration.seconds(60)

    private var attempts = 0
    private var limit = Self.first

    /// The wait before the next attempt.
    mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let wait = limit
        attempts += 1
        limit = min(limit * 2, attempts < Self.manyAtFirst ? Self.longestAtFirst : Self.longest)
        return wait * Double.random(in: 0.5...1, using: &generator)
    }

    /// Begins anew, after success.
    mutating func reset() { self = Backoff() }
}

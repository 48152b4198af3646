// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop
internal import Platform

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
        var generator = UnpredictableNumbers()
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

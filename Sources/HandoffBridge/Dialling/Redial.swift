// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffSession
internal import MainLoop
internal import Platform

/// Repeats an attempt to reach one peer, less and less often.
@MainLoop
final class Redial {
    private let attempt: @MainLoop @Sendable () async -> Void
    private let done: @MainLoop @Sendable () -> Void
    private var times = RedialTimes()
    private var timer: LoopSource?
    private var task: Task<Void, Never>?
    private var isStopped = false
    /// Whether there was a reason for another attempt while one was under way that did not know of it yet.
    private(set) var isDue = false
    /// Whether there will be no attempt but by ``now()`` or ``again()``, although one is needed.
    private(set) var rests = false

    /// Calls `attempt` when it is time, and then `done`, which calls ``schedule()`` if another attempt is
    /// needed.
    init(
        attempt: @escaping @MainLoop @Sendable () async -> Void,
        done: @escaping @MainLoop @Sendable () -> Void
    ) {
        self.attempt = attempt
        self.done = done
    }

    /// Sees to it that there will be an attempt, or that this ``rests``.
    func schedule() {
        guard task == nil, timer == nil, !isStopped else { return }
        if isDue { return again() }
        var generator = UnpredictableNumbers()
        let wait = times.wait(at: .now, using: &generator)
        rests = wait == nil
        timer = wait.map { .timer(after: $0) { [weak self] in self?.again() } }
    }

    /// There is a reason to hope: makes the next attempt now, or as soon as the one that is under way has failed.
    func now() {
        times.hoped(at: .now)
        again()
    }

    /// The same, without a reason.
    func again() {
        guard !isStopped else { return }
        guard task == nil else {
            isDue = true
            return
        }
        (isDue, rests) = (false, false)
        timer = nil
        task = MainLoop.start { [weak self, attempt] in
            await attempt()
            guard let self, !isStopped else { return }
            task = nil
            done()
        }
    }

    /// No further attempt is needed for now, since there is a link, or nothing to dial.
    func pause() {
        timer = nil
        (isDue, rests) = (false, false)
        times.linked()
    }

    /// The next wait is short again.
    func reset() { times.reset() }

    /// Makes no further attempts, and ends the one that is under way.
    func stop() {
        isStopped = true
        timer = nil
        task?.cancel()
    }
}

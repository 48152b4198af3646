// SPDX-License-Identifier: LGPL-2.1-or-later

/// One result that somebody gives, on any thread, and that one task waits for.
///
/// A task that waits for a continuation, for another task or for a time is resumed by way of libdispatch's pool, also if it
/// is an actor's, and a pool that was used once wakes the process every second from then on. A task that waits for this goes
/// on right where it is isolated: on the way it passes the executor of a gate, which keeps it until there is the result.
package final class Handover<Success: Sendable, Failure: Error>: Sendable {
    private struct State {
        var result: Result<Success, Failure>?
        var isAwaited = false
    }

    private let state = Monitor(State()) { _ in false }
    private let gate = Gate()

    /// A handover of something that is not there yet.
    package init() {}

    /// Gives the result; only the first counts.
    package func resume(with result: Result<Success, Failure>) {
        let isAwaited = state.change { state in
            guard state.result == nil else { return false }
            state.result = result
            return state.isAwaited
        }
        if isAwaited { gate.open() }
    }

    /// Gives the result; only the first counts.
    package func resume(returning value: Success) { resume(with: .success(value)) }

    /// Gives the result; only the first counts.
    package func resume(throwing error: Failure) { resume(with: .failure(error)) }

    /// Waits for the result, which one task may do, once.
    package func take() async throws(Failure) -> Success {
        while true {
            let result = state.change { state in
                if state.result == nil { state.isAwaited = true }
                return state.result
            }
            if let result { return try result.get() }
            await Doorway(gate).pass()
        }
    }
}

extension Handover where Success == Void {
    /// It has happened; only the first time counts.
    package func resume() { resume(with: .success(())) }
}

/// An executor that keeps the one job it is given until it is opened.
private final class Gate: SerialExecutor {
    private let job = Monitor<UnownedJob?>(nil)

    func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        self.job.change { $0 = unowned }
    }

    /// Runs the job, which at most is about to be given to this by another thread; it goes straight on to its own executor.
    func open() {
        let job = job.wait { $0 }
        job.runSynchronously(on: asUnownedSerialExecutor())
    }
}

/// What a task passes on its way through a gate.
private actor Doorway {
    private let gate: Gate

    init(_ gate: Gate) { self.gate = gate }

    nonisolated var unownedExecutor: UnownedSerialExecutor { gate.asUnownedSerialExecutor() }

    func pass() {}
}

// SPDX-License-Identifier: LGPL-2.1-or-later

extension MainLoop {
    /// Suspends the task for `duration` on a timer of the main loop (`Task.sleep` would start threads).
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    @MainLoop
    package static func sleep(for duration: Duration) async throws {
        let sleeper = Sleeper()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleeper.begin(duration, $0) }
        } onCancel: {
            start { sleeper.finish(.failure(CancellationError())) }
        }
    }
}

/// A sleep, which is ended by the timer or by cancellation, whichever comes first.
@MainLoop
private final class Sleeper {
    private var continuation: CheckedContinuation<Void, any Error>?
    private var timer: LoopSource?

    func begin(_ duration: Duration, _ continuation: CheckedContinuation<Void, any Error>) {
        if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
        self.continuation = continuation
        timer = .timer(after: duration) { [weak self] in self?.finish(.success(())) }
    }

    func finish(_ result: Result<Void, any Error>) {
        timer?.cancel()
        timer = nil
        continuation?.resume(with: result)
        continuation = nil
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import MainLoop

/// The thread that iterates the main loop during tests.
package enum LoopThread {
    /// Starts it; harmless when it runs already.
    package static func start() { _ = thread }

    /// Whether the caller runs on it.
    package static var isCurrent: Bool { pthread_equal(pthread_self(), thread) != 0 }

    private static let thread: pthread_t = {
        var thread = pthread_t()
        let failed = pthread_create(
            &thread, nil,
            { _ in
                // A thread born on a Dispatch worker has all signals blocked, and so would its children.
                var signals = sigset_t()
                sigemptyset(&signals)
                pthread_sigmask(SIG_SETMASK, &signals, nil)
                MainLoop.run(until: RunToken())
                return nil
            }, nil)
        precondition(failed == 0, "the thread of the main loop cannot be started")
        return thread
    }()
}

/// Runs `body` as one task on the main loop, which is started first if need be.
package func onLoop<Result: Sendable>(
    _ body: @escaping @MainLoop @Sendable () async throws -> Result
) async throws -> Result {
    LoopThread.start()
    return try await MainLoop.start(body).value
}

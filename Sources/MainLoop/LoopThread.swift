// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import Synchronization

/// A thread that iterates the main loop, in a process whose first thread does something else, as that of tests does.
package enum LoopThread {
    /// Starts it; harmless when it runs already, and on a thread that iterates the main loop itself.
    package static func start() {
        if g_main_context_is_owner(MainLoop.executor.context) == 0 { _ = thread }
    }

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
                // Nobody else takes the loop between two iterations.
                while g_main_context_acquire(MainLoop.executor.context) == 0 { sched_yield() }
                MainLoop.run(until: RunToken())
                return nil
            }, nil)
        precondition(failed == 0, "the thread of the main loop cannot be started")
        return thread
    }()

    /// What `body` returns, which runs on the main loop while the calling thread stands still: it must not wait for anything
    /// that this thread does.
    package static func wait<Success: Sendable>(
        for body: @escaping @MainLoop @Sendable () async -> Success
    ) -> Success {
        start()
        let answer = Answer<Success>()
        MainLoop.start { answer.give(await body()) }
        while true {
            if let value = answer.value { return value }
            if g_main_context_is_owner(MainLoop.executor.context) != 0 {
                g_main_context_iteration(MainLoop.executor.context, 1)
            } else {
                answer.sleep()
            }
        }
    }
}

/// What one thread waits for from another.
private final class Answer<Success: Sendable>: Sendable {
    private let state = Mutex<Success?>(nil)
    private let given = Semaphore()

    /// What was given; nil before.
    var value: Success? { state.withLock { $0 } }

    func give(_ value: Success) {
        state.withLock { $0 = value }
        sem_post(given.handle)
    }

    /// Waits until something is given.
    func sleep() { sem_wait(given.handle) }
}

private final class Semaphore: @unchecked Sendable {
    // @unchecked: semaphores are for several threads (sem_overview(7)).
    let handle = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(handle, 0, 0) }

    deinit {
        sem_destroy(handle)
        handle.deallocate()
    }
}

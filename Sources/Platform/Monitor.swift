// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// Something that several threads share, one at a time, and whose changes a thread can wait for. The
/// thread sanitizer sees its lock, which it does not see of a `Mutex`.
package final class Monitor<State>: @unchecked Sendable {
    // @unchecked: `state` is only touched with `mutex` held, which is safe from any thread, as is `changed`
    // (pthread_mutex_lock(3), pthread_cond_wait(3)).
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var state: State
    private let wakes: @Sendable (State) -> Bool

    /// - Parameter wakes: whether the state is one that somebody waits for. To wake a thread for nothing costs more than
    ///   many changes.
    package init(_ state: sending State, wakes: @escaping @Sendable (State) -> Bool = { _ in true }) {
        self.state = state
        self.wakes = wakes
        mutex = .allocate(capacity: 1)
        changed = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(changed)
        mutex.deallocate()
        changed.deallocate()
    }

    /// Runs `body` while nobody else does; then whoever waits looks again, if there is a reason to.
    package func change<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            if wakes(state) { pthread_cond_broadcast(changed) }
            pthread_mutex_unlock(mutex)
        }
        return body(&state)
    }

    /// Waits, blocking the thread, until `body` has something.
    package func wait<Result>(for body: (inout State) -> Result?) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            pthread_cond_wait(changed, mutex)
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Threads for work that blocks. Signals never interrupt them, and nobody waits for their end.
package enum BackgroundThread {
    /// Runs `body` on a new thread.
    /// - Parameter name: at most 15 bytes, for debuggers.
    /// - Throws: if the system has no thread left; then `body` is not run.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(GLibError) {
        // A thread begins with the signal mask of the thread that creates it.
        var (all, former) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        let work = Unmanaged.passRetained(Work(body))
        do throws(GLibError) {
            let thread = try throwingGError {
                g_thread_try_new(
                    name,
                    { data in
                        if let data { Unmanaged<Work>.fromOpaque(data).takeRetainedValue().body() }
                        return nil
                    }, work.toOpaque(), $0)
            }
            g_thread_unref(thread)
        } catch {
            work.release()
            throw error
        }
    }

    /// From now on, the calling thread gives way to the main loop's thread wherever both could run: however
    /// much work others give it, whoever waits for the main loop does not have to wait for that as well. This
    /// cannot be undone.
    package static func giveWay() {
        // On Linux the nice value is each thread's own (setpriority(2), "C library/kernel differences").
        _ = nice(giveWayNiceness)
    }

    /// The weight that this gives to a thread is about a tenth of what it was (sched(7)).
    private static let giveWayNiceness: Int32 = 10

    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

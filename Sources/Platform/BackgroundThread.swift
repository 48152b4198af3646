// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Threads for work that blocks. Signals never interrupt them, and nobody waits for their end.
public enum BackgroundThread {
    /// Runs `body` on a thread of its own.
    /// - Parameter name: at most 15 bytes, for debuggers.
    /// - Throws: if the system has no thread left; `body` is not run then.
    public static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(GLibError) {
        // A thread begins with the mask of whoever makes it.
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

    /// From now on the thread that calls this goes behind the main loop's wherever both could run: however much others give it to
    /// do, who waits for the main loop does not wait for it too. It cannot be taken back.
    public static func giveWay() {
        // On Linux the nice value is each thread's own (setpriority(2), "C library/kernel differences").
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(handoff_gettid()), giveWayNiceness)
    }

    /// The weight that this gives to a thread is about a tenth of the usual one (sched(7)).
    private static let giveWayNiceness: Int32 = 10

    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

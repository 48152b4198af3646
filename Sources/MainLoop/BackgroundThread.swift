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

    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

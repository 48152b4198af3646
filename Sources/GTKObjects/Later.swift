// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGTK

/// What is to be done after a while, on the loop of GTK: `Task.sleep` would start threads, and from then on the process would
/// wake up every second.
@MainActor
package enum Later {
    private final class Work {
        let body: @MainActor () -> Void

        init(_ body: @escaping @MainActor () -> Void) { self.body = body }
    }

    /// Calls `body` once, after so many milliseconds.
    package static func call(afterMilliseconds delay: UInt32, _ body: @escaping @MainActor () -> Void) {
        g_timeout_add(
            delay,
            { data in
                guard let data else { return 0 }
                let work = Unmanaged<Work>.fromOpaque(data).takeRetainedValue()
                // GTK's loop runs on the thread of the main actor.
                MainActor.assumeIsolated { work.body() }
                return 0
            }, Unmanaged.passRetained(Work(body)).toOpaque())
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
import Synchronization

/// Ends ``MainLoop/run(until:)``; usable from any thread.
package final class RunToken: Sendable {
    private let stopped = Atomic<Bool>(false)

    /// A token that lets the loop run.
    package init() {}

    /// Whether ``stop()`` was called.
    package var isStopped: Bool { stopped.load(ordering: .acquiring) }

    /// Makes the loop return after what it is doing now.
    package func stop() {
        stopped.store(true, ordering: .releasing)
        g_main_context_wakeup(MainLoop.executor.context)
    }
}

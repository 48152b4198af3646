// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// Waits for the end of a child of this process, and reaps it.
@MainLoop
package final class ChildWatch {
    private var source: LoopSource?
    private let body: @MainLoop (Int32) -> Void

    /// Calls `body` once with the status of the child `process` (wait(2)) after it has ended, unless this is freed before.
    package init(_ process: Int32, _ body: @escaping @MainLoop (_ status: Int32) -> Void) {
        self.body = body
        let function: @convention(c) (GPid, gint, gpointer?) -> Void = { _, status, data in
            guard let data else { return }
            let this = Unmanaged<ChildWatch>.fromOpaque(data).takeUnretainedValue()
            MainLoop.enter { this.ended(status) }
        }
        // Not retained: freeing this destroys the source first.
        source = LoopSource(
            g_child_watch_source_new(process), unsafeBitCast(function, to: GSourceFunc.self),
            Unmanaged.passUnretained(self).toOpaque(), nil)
    }

    isolated deinit { source?.cancel() }

    private func ended(_ status: Int32) {
        guard let source else { return }
        source.cancel()
        self.source = nil
        body(status)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import MainLoop

/// Waits on the main loop until a pollable stream can be read or written.
@MainLoop
final class StreamSource {
    private var source: UnsafeMutablePointer<GSource>?

    /// Takes over `source`, made by `g_pollable_…_create_source`, and calls `body` whenever it is ready,
    /// until ``cancel()`` or freeing.
    init(_ source: UnsafeMutablePointer<GSource>?, _ body: @escaping @MainLoop () -> Void) {
        self.source = source
        guard let source else { return }
        let function: @convention(c) (UnsafeMutablePointer<GObject>?, gpointer?) -> gboolean = { _, data in
            Callback.Repeating.call(data)
        }
        let data = Callback.Repeating.pass {
            body()
            return true
        }
        // Not blocked while it is dispatched, which would cost two writes to the context's eventfd.
        g_source_set_can_recurse(source, 1)
        g_source_set_callback(
            source, unsafeBitCast(function, to: GSourceFunc.self), data, Callback.Repeating.destroy)
        g_source_attach(source, nil)
    }

    isolated deinit { cancel() }

    /// Ends it. Harmless when it has ended already.
    func cancel() {
        guard let source else { return }
        self.source = nil
        g_source_destroy(source)
        g_source_unref(source)
    }
}

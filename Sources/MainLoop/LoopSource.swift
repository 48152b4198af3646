// SPDX-License-Identifier: LGPL-2.1-or-later
package import CGio

/// A source of events on the main loop. It stays until ``cancel()`` is called or the value is freed.
@MainLoop
package final class LoopSource {
    private var source: UnsafeMutablePointer<GSource>?

    /// Attaches `source`, whose reference this takes over, and calls `body` whenever it is ready, until that returns false.
    convenience init(_ source: UnsafeMutablePointer<GSource>?, _ body: @escaping @MainLoop () -> Bool) {
        self.init(
            source, { Callback.Repeating.call($0) }, Callback.Repeating.pass(body), Callback.Repeating.destroy
        )
    }

    /// Attaches `source`, whose reference this takes over.
    /// - Parameters:
    ///   - function: called with `data` whenever the source is ready; of the C type that this kind of source asks for.
    ///   - destroy: called with `data` once the source is destroyed.
    init(
        _ source: UnsafeMutablePointer<GSource>?, _ function: GSourceFunc, _ data: UnsafeMutableRawPointer?,
        _ destroy: GDestroyNotify?
    ) {
        self.source = source
        guard let source else {
            destroy?(data)
            return
        }
        // A source that may recurse is not blocked while it is dispatched: for a file descriptor, blocking
        // costs two writes to the context's eventfd and an extra poll each time.
        g_source_set_can_recurse(source, 1)
        g_source_set_callback(source, function, data, destroy)
        g_source_attach(source, MainLoop.executor.context)
    }

    isolated deinit { cancel() }

    /// Ends the source. Harmless when it has ended already.
    package func cancel() {
        guard let source else { return }
        self.source = nil
        g_source_destroy(source)
        g_source_unref(source)
    }
}

extension LoopSource {
    /// Calls `body` once, `delay` from now (rounded up to milliseconds; at once if negative).
    package static func timer(after delay: Duration, _ body: @escaping @MainLoop () -> Void) -> LoopSource {
        LoopSource(g_timeout_source_new(delay.millisecondsRoundedUp)) {
            body()
            return false
        }
    }

    /// Calls `body` once, about `delay` from now: up to a second or two later, so that the machine wakes for several such timers at once.
    package static func timer(afterAbout delay: Duration, _ body: @escaping @MainLoop () -> Void)
        -> LoopSource
    {
        let (seconds, rest) = delay.components
        // GLib counts whole seconds.
        return LoopSource(g_timeout_source_new_seconds(guint(clamping: seconds + (rest > 0 ? 1 : 0)))) {
            body()
            return false
        }
    }

    /// Calls `body` once, as soon as all other sources that are ready have had their turn.
    package static func soon(_ body: @escaping @MainLoop () -> Void) -> LoopSource {
        let source = g_idle_source_new()
        // The same priority as all others: with a lower one it would starve while there is something to do.
        g_source_set_priority(source, G_PRIORITY_DEFAULT)
        return LoopSource(source) {
            body()
            return false
        }
    }

    /// Calls `body` each time the process gets the signal `number` (one of those that
    /// `g_unix_signal_source_new` supports: SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2).
    package static func signal(_ number: Int32, _ body: @escaping @MainLoop () -> Void) -> LoopSource {
        LoopSource(g_unix_signal_source_new(number)) {
            body()
            return true
        }
    }

    /// Calls `body` whenever `source` is ready, one of a stream, made by `g_pollable_…_create_source`, whose reference this
    /// takes over.
    package static func pollable(
        _ source: UnsafeMutablePointer<GSource>?, _ body: @escaping @MainLoop () -> Void
    ) -> LoopSource {
        let function: @convention(c) (UnsafeMutablePointer<GObject>?, gpointer?) -> gboolean = { _, data in
            Callback.Repeating.call(data)
        }
        let data = Callback.Repeating.pass {
            body()
            return true
        }
        return LoopSource(
            source, unsafeBitCast(function, to: GSourceFunc.self), data, Callback.Repeating.destroy)
    }
}

extension Duration {
    var millisecondsRoundedUp: guint {
        let (seconds, attoseconds) = components
        if seconds < 0 || attoseconds < 0 { return 0 }
        if seconds > Int64(guint.max) / 1000 - 1 { return guint.max }
        return guint(seconds) * 1000 + guint((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

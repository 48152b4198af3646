// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import MainLoop

/// Says when the machine's network has changed.
@MainLoop
final class NetworkMonitor {
    private let body: @MainLoop () -> Void
    private var handler: gulong = 0
    /// Changes of addresses and routes come in bursts, one after the other, and on some machines they never
    /// cease.
    private var settling = Settling(quiet: 1_000_000, ceiling: 5_000_000)
    private lazy var timer = DeadlineTimer { [weak self] in self?.settle() }

    /// Calls `body` a moment after a change, or after several, until this is freed.
    init(_ body: @escaping @MainLoop () -> Void) {
        self.body = body
        let changed: @convention(c) (OpaquePointer?, gboolean, gpointer?) -> Void = { _, _, data in
            _ = Callback.Repeating.call(data)
        }
        let data = Callback.Repeating.pass { [weak self] in
            self?.changed()
            return true
        }
        handler = g_signal_connect_data(
            UnsafeMutableRawPointer(g_network_monitor_get_default()), "network-changed",
            unsafeBitCast(changed, to: GCallback.self), data, { data, _ in Callback.Repeating.destroy(data) },
            GConnectFlags(rawValue: 0))
    }

    isolated deinit {
        g_signal_handler_disconnect(UnsafeMutableRawPointer(g_network_monitor_get_default()), handler)
    }

    private func changed() {
        settling.changed(at: MainLoop.now)
        timer.set(settling.deadline)
    }

    private func settle() {
        if settling.settle(at: MainLoop.now) { body() }
        timer.set(settling.deadline)
    }
}

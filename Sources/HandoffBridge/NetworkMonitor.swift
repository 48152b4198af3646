// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import MainLoop

/// Says when the machine's network has changed.
@MainLoop
final class NetworkMonitor {
    private let body: @MainLoop () -> Void
    private var handler: gulong = 0
    private var settling: LoopSource?

    /// Changes come in swarms: addresses, routes, one after the other.
    private static let settlingTime = Duration.seconds(1)

    /// Calls `body` a moment after each change, until this is freed.
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
        settling = .timer(after: Self.settlingTime) { [weak self] in self?.body() }
    }
}

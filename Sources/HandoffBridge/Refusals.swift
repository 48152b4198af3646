// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffDaemon
internal import MainLoop
internal import Platform

/// Logs why somebody was refused or not reached, but nothing that repeats itself within ten minutes.
@MainLoop
final class Refusals {
    private static let interval: Int64 = 600_000_000
    private static let maximumRemembered = 256

    private var times: [String: Int64] = [:]

    /// Logs `text`, unless it was logged a short time ago.
    func note(_ text: String) {
        let now = MainLoop.now
        if let last = times[text], now - last < Self.interval { return bridgeLog.debug(text) }
        if times.count >= Self.maximumRemembered { times = times.filter { now - $0.value < Self.interval } }
        // More different ones than that in ten minutes are somebody's doing.
        guard times.count < Self.maximumRemembered else { return bridgeLog.debug(text) }
        times[text] = now
        bridgeLog.message(text)
    }
}

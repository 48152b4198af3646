// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop
internal import Platform

/// Logs why somebody was refused or not reached, but leaves out what repeats itself within ten minutes.
@MainLoop
final class Refusals {
    private static let interval: Int64 = 600_000_000
    private static let maximumRemembered = 256

    private var times: [String: Int64] = [:]
    /// When it was last logged that more was left out.
    private var lastSilence: Int64?
    private let log: @MainLoop (String) -> Void

    /// - Parameter log: where it goes, by default the bridge's log.
    init(log: @escaping @MainLoop (String) -> Void = { bridgeLog.message($0) }) { self.log = log }

    /// Logs `text`, unless it was logged a short time ago.
    func note(_ text: String) {
        let now = MainLoop.now
        if let last = times[text], now - last < Self.interval { return bridgeLog.debug(text) }
        if times.count >= Self.maximumRemembered { times = times.filter { now - $0.value < Self.interval } }
        // More different lines than that in ten minutes are somebody's doing.
        guard times.count < Self.maximumRemembered else {
            bridgeLog.debug(text)
            return sayThatMoreIsNotLogged(now)
        }
        times[text] = now
        log(text)
    }

    private func sayThatMoreIsNotLogged(_ now: Int64) {
        if let lastSilence, now - lastSilence < Self.interval { return }
        lastSilence = now
        log(
            "More was refused than is logged: \(Self.maximumRemembered) different lines in ten minutes. With --verbose"
                + " all of it is.")
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// How many lines the log gets about what each peer takes. While a program logs too much, the journal drops
/// everything that it says, including what a peer might want to hide.
package struct FetchLogBudget: Sendable {
    /// How many lines there are at most about one device in ``time``, apart from the one that sums up the others.
    package static let maximum = 20
    /// The time over which lines are counted and then summed up.
    package static let time: Duration = .seconds(60)

    /// What was left out of the log about a device.
    package struct Summary: Hashable, Sendable {
        /// Who took it.
        package let device: DeviceID
        /// How many lines were left out.
        package let count: UInt64

        /// A summary of `count` lines about `device`.
        package init(_ device: DeviceID, _ count: UInt64) {
            self.device = device
            self.count = count
        }
    }

    private struct Account {
        /// When lines were written, the oldest first.
        var lines: [Instant] = []
        /// What was left out, and when that is to be told.
        var leftOut: (count: UInt64, due: Instant)?

        mutating func forgetLines(before now: Instant) {
            lines.removeAll { $0.advanced(by: FetchLogBudget.time) <= now }
        }
    }

    private var accounts: [DeviceID: Account] = [:]

    /// How many devices are remembered before the ones that can be forgotten are looked for.
    private static let manyDevices = Quota.peers

    /// Nothing has been logged yet.
    package init() {}

    /// How many devices are remembered.
    package var count: Int { accounts.count }

    /// Something happens that is worth a line about `device`.
    /// - Returns: whether there is to be one; if not, it is counted.
    package mutating func take(_ device: DeviceID, at now: Instant) -> Bool {
        if accounts[device] == nil, accounts.count >= Self.manyDevices { forgetDevices(at: now) }
        var account = accounts[device] ?? Account()
        defer { accounts[device] = account }
        account.forgetLines(before: now)
        guard account.lines.count < Self.maximum else {
            let former = account.leftOut ?? (0, now.advanced(by: Self.time))
            account.leftOut = (former.count + 1, former.due)
            return false
        }
        account.lines.append(now)
        return true
    }

    /// When `advance(to:)` has something to tell; nil if nothing was left out.
    package var nextDeadline: Instant? { accounts.values.compactMap { $0.leftOut?.due }.min() }

    /// Time has passed. Returns the summaries that are to be logged now, each as one line.
    package mutating func advance(to now: Instant) -> [Summary] {
        var summaries: [Summary] = []
        for (device, account) in accounts {
            guard let leftOut = account.leftOut, leftOut.due <= now else { continue }
            summaries.append(Summary(device, leftOut.count))
            accounts[device]?.leftOut = nil
        }
        return summaries.sorted { $0.device < $1.device }
    }

    private mutating func forgetDevices(at now: Instant) {
        accounts = accounts.filter { entry in
            var account = entry.value
            account.forgetLines(before: now)
            return !account.lines.isEmpty || account.leftOut != nil
        }
    }
}

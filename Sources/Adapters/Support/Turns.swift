// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
package import MainLoop
internal import Platform

/// Lets those that want the same thing have it one after the other, in the order in which they have come.
@MainLoop
package final class Turns {
    /// What ends with the turn of each of those that have the thing or wait for it, the first first.
    private var queues: [String: [Awaited<Void>]] = [:]

    /// How many may have a thing and wait for it.
    static let maximum = 4

    /// Nobody has anything yet.
    package init() {}

    /// Calls `body` when it is its turn to have `thing`.
    /// - Parameter time: how long to wait for that. Whoever has asked for it must still be there when it happens.
    /// - Throws: what `body` throws; `limitsExceeded` if too many wait already, `applicationTimedOut` if it is not its turn in time.
    package func run(_ thing: String, within time: Duration, _ body: @MainLoop () async throws -> Void)
        async throws
    {
        let former = queues[thing] ?? []
        guard former.count < Self.maximum else {
            throw HandoffFailure(
                .limitsExceeded,
                "\(former.count) others are being opened in the same application. Wait until they are open, "
                    + "then try again.")
        }
        let mine = Awaited<Void>()
        queues[thing] = former + [mine]
        defer {
            let rest = (queues[thing] ?? []).filter { $0 !== mine }
            queues[thing] = rest.isEmpty ? nil : rest
            mine.come(())
        }
        try await wait(for: mine, thing, until: MainLoop.now + Int64(time.components.seconds) * 1_000_000)
        try await body()
    }

    /// Waits until `mine` is the first. Those before it may leave in any order.
    private func wait(for mine: Awaited<Void>, _ thing: String, until deadline: Int64) async throws {
        while let first = queues[thing]?.first, first !== mine {
            let rest = deadline - MainLoop.now
            guard rest > 0, await first.value(within: .microseconds(rest)) != nil else {
                throw HandoffFailure(
                    .applicationTimedOut,
                    tr(
                        "Something else is still being opened in the same application. Wait until it is "
                            + "open, then try again."
                    ))
            }
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore

/// The clocks of the machine, and timers on the main actor.
enum TestClock {
    /// What both clocks read, in microseconds.
    static var now: (monotonic: Int64, wall: Int64) { (read(CLOCK_MONOTONIC), read(CLOCK_REALTIME)) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// Calls `body` at `deadline`, unless it is cancelled.
    @MainActor static func timer(
        _ deadline: Instant?, _ now: Instant, _ body: @escaping @MainActor () -> Void
    ) -> Task<Void, Never>? {
        guard let deadline else { return nil }
        let wait = max(now.duration(to: deadline), .zero)
        return Task {
            try? await Task.sleep(for: wait)
            if !Task.isCancelled { body() }
        }
    }

    /// What `body` returns, or `fallback` if that takes too long. Then what it returns counts for nothing.
    @MainActor static func within<Result: Sendable>(
        _ limit: Duration, otherwise fallback: Result, _ body: @escaping @MainActor () async -> Result
    ) async -> Result {
        let race = Race<Result>()
        let timer = Task {
            try? await Task.sleep(for: limit)
            if !Task.isCancelled { race.settle(fallback) }
        }
        Task { race.settle(await body()) }
        defer { timer.cancel() }
        return await race.outcome()
    }

    /// Of several results the first counts.
    @MainActor
    private final class Race<Result: Sendable> {
        private var result: Result?
        private var waiter: CheckedContinuation<Result, Never>?

        func settle(_ new: Result) {
            guard result == nil else { return }
            result = new
            waiter?.resume(returning: new)
            waiter = nil
        }

        func outcome() async -> Result {
            if let result { return result }
            return await withCheckedContinuation { waiter = $0 }
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import MainLoop
import TestSupport
import Testing

@Suite("Sleeping", .timeLimit(.minutes(1)))
struct SleepTests {
    @Test("a sleep lasts at least as long as asked")
    func duration() async throws {
        let elapsed = try await onLoop {
            let start = MainLoop.now
            try await MainLoop.sleep(for: .milliseconds(15))
            return MainLoop.now - start
        }
        #expect(elapsed >= 15_000)
    }

    @Test("cancelling a task ends its sleep at once")
    func cancellation() async throws {
        try await onLoop {
            var isAsleep = false
            let task = MainLoop.start {
                isAsleep = true
                try await MainLoop.sleep(for: .seconds(3600))
            }
            try await eventually { isAsleep }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("a task that is cancelled already does not sleep")
    func cancelledBefore() async throws {
        try await onLoop {
            let task = MainLoop.start { try await MainLoop.sleep(for: .seconds(3600)) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("a sleep may be cancelled from any thread while its timer goes off")
    func cancellationRace() async throws {
        LoopThread.start()
        for _ in 0..<300 {
            let task = MainLoop.start { try await MainLoop.sleep(for: .milliseconds(1)) }
            try? await Task.sleep(for: .microseconds(900))
            task.cancel()
            _ = await task.result
        }
    }

    @Test("a thousand sleeps at once all end")
    func many() async throws {
        let count = try await onLoop {
            let tasks = (0..<1000).map { number in
                MainLoop.start { try await MainLoop.sleep(for: .microseconds(number * 10)) }
            }
            for task in tasks { try await task.value }
            return tasks.count
        }
        #expect(count == 1000)
    }
}

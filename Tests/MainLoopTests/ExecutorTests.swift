// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import MainLoop
import TestSupport
import Testing

/// Counts on the main loop, and notes whether it was ever elsewhere.
@MainLoop
private final class Counter {
    private(set) var count = 0
    private(set) var wasElsewhere = false

    func increment() {
        count += 1
        if !LoopThread.isCurrent { wasElsewhere = true }
    }
}

/// The kernel's number of the calling thread.
private func threadID() -> pthread_t { pthread_self() }

@Suite("The executor", .timeLimit(.minutes(2)))
struct ExecutorTests {
    @Test("100,000 hops from other threads all arrive, on the loop's thread")
    func hops() async throws {
        LoopThread.start()
        let counter = await MainLoop.start { Counter() }.value
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask { @concurrent in
                    for _ in 0..<1000 { await counter.increment() }
                }
            }
        }
        #expect(await counter.count == 100_000)
        #expect(await !counter.wasElsewhere)
    }

    @Test("tasks started from many threads all run, on the loop's thread")
    func starts() async throws {
        LoopThread.start()
        let counter = await MainLoop.start { Counter() }.value
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { @concurrent in
                    for _ in 0..<1000 { MainLoop.start { counter.increment() } }
                }
            }
        }
        try await onLoop { try await eventually { counter.count == 8000 } }
        #expect(await !counter.wasElsewhere)
    }

    @Test("a task of the loop never visits another thread")
    func oneThread() async throws {
        let strangers = try await onLoop {
            var threads: [pthread_t] = []
            @MainLoop func note() { threads.append(threadID()) }
            note()
            await Task.yield()
            note()
            try await MainLoop.sleep(for: .milliseconds(1))
            note()
            let value = await MainLoop.start { threadID() }.value
            threads.append(value)
            note()
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            MainLoop.start {
                for number in 0..<3 { continuation.yield(number) }
                continuation.finish()
            }
            for await _ in stream { note() }
            await anywhere { threads.append(threadID()) }
            note()
            return threads.filter { pthread_equal($0, pthread_self()) == 0 }.count
        }
        #expect(strangers == 0)
    }

    /// An async function that is not isolated runs where its caller runs.
    @MainLoop private func anywhere(_ body: @MainLoop () -> Void) async { body() }

    @Test("started tasks begin in the order in which they were started")
    func order() async throws {
        let order = try await onLoop {
            var order: [Int] = []
            let tasks = (0..<1000).map { number in MainLoop.start { order.append(number) } }
            for task in tasks { await task.value }
            return order
        }
        #expect(order == Array(0..<1000))
    }

    @Test("a task that resumes and one that is started run in the order of the causes")
    func orderOfResumption() async throws {
        let order = try await onLoop {
            var order: [String] = []
            var waiting: [CheckedContinuation<Void, Never>] = []
            for name in ["first", "third"] {
                MainLoop.start {
                    await withCheckedContinuation { waiting.append($0) }
                    order.append(name)
                }
            }
            try await eventually { waiting.count == 2 }
            waiting[0].resume()
            MainLoop.start { order.append("second") }
            waiting[1].resume()
            MainLoop.start { order.append("fourth") }
            try await eventually { order.count == 4 }
            return order
        }
        #expect(order == ["first", "second", "third", "fourth"])
    }

    @Test("jobs that keep coming do not starve the loop's other sources")
    func starvation() async throws {
        try await onLoop {
            var isOver = false
            let timer = LoopSource.timer(after: .milliseconds(5)) { isOver = true }
            while !isOver { await Task.yield() }
            timer.cancel()
        }
    }

    @Test(
        "however many jobs wait, other sources have their turn every few milliseconds, and the jobs keep their order"
    )
    func longQueue() async throws { try await expectSuccess(of: "queue") }

    @Test("processor time is counted for whoever caused it, through all the jobs that come of it")
    func accounts() async throws { try await expectSuccess(of: "accounts") }

    /// This runs in a separate process, since it would disturb other tests.
    private func expectSuccess(of what: String) async throws {
        let end = try await onLoop {
            try await ChildProcess([program("MainLoopProgram"), what]).finished()
        }
        #expect(end == .exited(0))
    }

    @Test("what throws in a started task is thrown by its value")
    func throwing() async throws {
        struct Odd: Error {}
        await #expect(throws: Odd.self) { try await onLoop { throw Odd() } }
    }

    @Test("a loop returns when its token is stopped")
    func stopping() async throws {
        let end = try await onLoop {
            try await ChildProcess([program("MainLoopProgram"), "stop"]).finished()
        }
        #expect(end == .exited(0))
    }

    @Test("the first thread may do what is the main loop's also before it runs, and after")
    func isolated() async throws {
        let end = try await onLoop {
            try await ChildProcess([program("MainLoopProgram"), "isolated"]).finished()
        }
        #expect(end == .exited(0))
    }

    @Test(
        "another thread that does what is the main loop's ends the process", arguments: ["running", "idle"])
    func notIsolated(loop: String) async throws {
        let end = try await onLoop {
            try await ChildProcess([program("MainLoopProgram"), "not isolated", loop]).finished()
        }
        #expect(end != .exited(0) && end != .exited(2))
    }
}

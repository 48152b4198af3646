// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// The global actor of everything that runs on the GLib main loop: one thread, one main context.
@globalActor
package actor MainLoop {
    /// The one main loop of the process, on GLib's default main context.
    package static let shared = MainLoop()

    static let executor = LoopExecutor()

    /// The executor that runs everything isolated to this actor.
    nonisolated package var unownedExecutor: UnownedSerialExecutor {
        Self.executor.asUnownedSerialExecutor()
    }

    /// Starts `operation` on the main loop, after everything that was started before. All tasks begin here: a
    /// bare `Task { }` would lose the executor preference and pass through another thread at every `await`.
    @discardableResult
    package static func start<Success: Sendable>(
        _ operation: @escaping @MainLoop @Sendable () async -> Success
    ) -> Task<Success, Never> {
        Task(executorPreference: executor) { await operation() }
    }

    /// Like ``start(_:)-(_)`` for an operation that may throw.
    @discardableResult
    package static func start<Success: Sendable>(
        _ operation: @escaping @MainLoop @Sendable () async throws -> Success
    ) -> Task<Success, any Error> {
        Task(executorPreference: executor) { try await operation() }
    }

    /// Runs `body` for a C callback on the loop's thread. The outermost call then runs the jobs that have
    /// been enqueued in the meantime, before C gets control back.
    package static func enter(_ body: @MainLoop () -> Void) {
        executor.enter { assumeIsolated(body) }
    }

    /// Runs `operation` here and now. This is only for code that runs on the loop's thread without Swift
    /// knowing: callbacks from C, and a program on its first thread before and after its loop runs. Anywhere
    /// else this ends the process, because two threads would be using at the same time what belongs to one.
    package static func assumeIsolated<Result, Failure: Error>(
        _ operation: @MainLoop () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        typealias Isolated = @MainLoop (@MainLoop () throws(Failure) -> Result) throws(Failure) -> Result
        typealias Plain = (@MainLoop () throws(Failure) -> Result) throws(Failure) -> Result
        let isBorrowed = executor.claim()
        defer { if isBorrowed { executor.giveBack() } }
        // The isolation is part of the type, not of the representation (as in MainActor.assumeIsolated). With
        // withoutActuallyEscaping(_:do:) the program would hold the length of the path of this file.
        let call: Isolated = { operation throws(Failure) in try operation() }
        return try unsafeBitCast(call, to: Plain.self)(operation)
    }

    /// Whether ``assumeIsolated(_:)`` would run something here and now: the calling thread is the loop's, or it is the
    /// first one, and no other thread runs the loop.
    package static var canBeHere: Bool { executor.mayClaim }

    /// The clock that goes on while the machine sleeps, in microseconds since an arbitrary start (CLOCK_BOOTTIME).
    package static var bootClock: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
    /// The monotonic clock, in microseconds since an arbitrary start (CLOCK_MONOTONIC).
    package static var now: Int64 { Int64(g_get_monotonic_time()) }

    /// The wall clock, in microseconds since the Unix epoch.
    package static var wallClock: Int64 { Int64(g_get_real_time()) }

    /// Iterates the main context on the calling thread until ``RunToken/stop()`` is called.
    package static func run(until token: RunToken) {
        g_main_context_push_thread_default(executor.context)
        while !token.isStopped {
            executor.beginIteration()
            g_main_context_iteration(executor.context, 1)
        }
        g_main_context_pop_thread_default(executor.context)
    }
}

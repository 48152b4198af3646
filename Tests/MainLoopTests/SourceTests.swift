// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import MainLoop
import TestSupport
import Testing

@Suite("Sources", .timeLimit(.minutes(1)))
struct SourceTests {
    @Test("a timer calls once, not before its time")
    func timer() async throws {
        let (calls, elapsed) = try await onLoop {
            let (start, called) = (MainLoop.now, Promise<Int64>())
            var calls = 0
            let timer = LoopSource.timer(after: .milliseconds(20)) {
                calls += 1
                called.keep(MainLoop.now)
            }
            let end = try await called.get()
            try await letPass(.milliseconds(40))
            timer.cancel()
            return (calls, end - start)
        }
        #expect(calls == 1)
        #expect(elapsed >= 20_000)
    }

    @Test("a timer that is cancelled or freed does not call")
    func cancelledTimer() async throws {
        let calls = try await onLoop {
            var calls = 0
            let cancelled = LoopSource.timer(after: .milliseconds(1)) { calls += 1 }
            cancelled.cancel()
            cancelled.cancel()
            do { _ = LoopSource.timer(after: .milliseconds(1)) { calls += 1 } }
            try await letPass(.milliseconds(20))
            return calls
        }
        #expect(calls == 0)
    }

    @Test(
        "any duration makes a timer",
        arguments: [Duration.seconds(-5), .zero, .nanoseconds(1), .nanoseconds(-1)])
    func oddDurations(_ delay: Duration) async throws {
        try await onLoop {
            let called = Promise<Bool>()
            let timer = LoopSource.timer(after: delay) { called.keep(true) }
            _ = try await called.get()
            timer.cancel()
        }
    }

    @Test("a timer of many centuries is just long")
    func endlessTimer() async throws {
        try await onLoop {
            var fired = 0
            let timers = [Int64.max, 4_294_968, 4_294_967].map { seconds in
                LoopSource.timer(after: .seconds(seconds)) { fired += 1 }
            }
            // What does not fit into GLib's milliseconds would be little, or nothing.
            try await letPass(.milliseconds(400))
            #expect(fired == 0)
            for timer in timers { timer.cancel() }
        }
    }

    @Test("a descriptor's source calls while there is something to read, and no more once cancelled")
    func descriptor() async throws {
        try await onLoop {
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            defer { for end in ends { close(end) } }
            var text = ""
            let source = DescriptorSource(ends[0], .readable) { ready in
                var byte: UInt8 = 0
                if ready.contains(.readable), read(ends[0], &byte, 1) == 1 {
                    text.unicodeScalars.append(UnicodeScalar(byte))
                }
            }
            _ = write(ends[1], "ab", 2)
            try await eventually { text == "ab" }
            source.cancel()
            source.cancel()
            _ = write(ends[1], "c", 1)
            try await letPass(.milliseconds(10))
            #expect(text == "ab")
        }
    }

    @Test("a descriptor's source says that the other side has closed")
    func hangUp() async throws {
        try await onLoop {
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            let seen = Promise<IOCondition>()
            let source = DescriptorSource(ends[0], .readable) { seen.keep($0) }
            close(ends[1])
            #expect(try await seen.get().contains(.hungUp))
            source.cancel()
            close(ends[0])
        }
    }

    @Test("a descriptor's source may be cancelled, and freed, while it calls")
    func cancelWithin() async throws {
        try await onLoop {
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            defer { for end in ends { close(end) } }
            var calls = 0
            var source: DescriptorSource?
            source = DescriptorSource(ends[1], .writable) { _ in
                calls += 1
                source?.cancel()
                source = nil
            }
            try await eventually { calls > 0 }
            try await letPass(.milliseconds(10))
            #expect(calls == 1 && source == nil)
        }
    }

    @Test("a signal reaches its sources on the loop, again and again")
    func signals() async throws {
        try await onLoop {
            var calls = (0, 0)
            let sources = [
                LoopSource.signal(SIGUSR1) { calls.0 += 1 }, LoopSource.signal(SIGUSR1) { calls.1 += 1 },
            ]
            for count in 1...3 {
                kill(getpid(), SIGUSR1)
                try await eventually { calls == (count, count) }
            }
            for source in sources { source.cancel() }
        }
    }

    @Test("a program is told of SIGHUP and ends by itself on SIGTERM")
    func signalsOfProgram() async throws {
        try await onLoop {
            let child = try ChildProcess([program("MainLoopProgram"), "signals"])
            try await eventually { child.errors.contains("ready") }
            child.send(signal: SIGHUP)
            try await eventually { child.errors.contains("hung up") }
            child.send(signal: SIGTERM)
            try await eventually { child.errors.contains("term 1") }
            child.send(signal: SIGTERM)
            #expect(try await child.finished() == .exited(0))
            #expect(child.errors.contains("term 2"))
        }
    }
}

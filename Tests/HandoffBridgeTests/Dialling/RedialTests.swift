// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import HandoffSession
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

@Suite("Repeated attempts")
struct RedialTests {
    @Test("a reason for another attempt while one is under way leads to one right after it")
    func dueMeanwhile() async throws {
        try await onLoop {
            var attempts = 0
            var gate: CheckedContinuation<Void, Never>?
            var redial: Redial?
            redial = Redial(
                attempt: {
                    attempts += 1
                    await withCheckedContinuation { gate = $0 }
                }, done: { redial?.schedule() })
            redial?.now()
            try await eventually { gate != nil }
            redial?.now()
            #expect(attempts == 1)
            gate?.resume()
            // Only jobs that follow each other lead to this, and no timer.
            for _ in 0..<20 where attempts == 1 { await Task.yield() }
            #expect(attempts == 2)
            gate?.resume()
            redial?.stop()
        }
    }

    @Test("the wait between dials doubles, at first up to some seconds, and is never less than half of that")
    func backoff() {
        var backoff = Backoff()
        var generator = SystemRandomNumberGenerator()
        var expected = Duration.milliseconds(300)
        for attempt in 1...40 {
            let wait = backoff.next(using: &generator)
            #expect(wait <= expected && wait >= expected * 0.5)
            expected = min(expected * 2, attempt < 32 ? .milliseconds(2400) : .seconds(60))
        }
        #expect(expected == .seconds(60))
        backoff.reset()
        #expect(backoff.next(using: &generator) <= .milliseconds(300))
    }

    @Test("a peer is dialled by itself for ten minutes after a reason, and then only for another")
    func perseverance() {
        var times = RedialTimes()
        var generator = SystemRandomNumberGenerator()
        func at(_ seconds: Int64) -> Instant { Instant(microseconds: seconds * 1_000_000) }
        var goesOn: [Bool] = []
        for (second, event) in [
            (0, ""), (599, ""), (600, ""), (5000, ""), (5001, "reason"), (5600, ""), (5601, ""),
        ] {
            if event == "reason" { times.hoped(at: at(Int64(second))) }
            goesOn.append(times.wait(at: at(Int64(second)), using: &generator) != nil)
        }
        #expect(goesOn == [true, true, false, false, true, true, false])
        // After a link the time begins anew, and the waits are as they were.
        times.linked()
        let wait = times.wait(at: at(9000), using: &generator)
        #expect(wait.map { $0 > .milliseconds(300) } == true)
        times.reset()
        let shortest = times.wait(at: at(9001), using: &generator)
        #expect(shortest.map { $0 <= .milliseconds(300) } == true)
    }
}

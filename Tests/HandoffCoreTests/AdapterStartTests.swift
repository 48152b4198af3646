// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("Starting an adapter")
struct AdapterStartTests {
    private var generator = SystemRandomNumberGenerator()

    private func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1_000_000)) }

    @Test("it is started when an application appears, once")
    func itIsStartedWhen() {
        var start = AdapterStart()
        #expect(!start.isDue(at: at(0)) && start.nextTime == nil)
        #expect(start.appeared(at: at(1)))
        #expect(!start.appeared(at: at(1)))
        start.runs(at: at(2))
        #expect(!start.appeared(at: at(3)) && start.nextTime == nil)
    }

    @Test("after a failure only the next application has it tried again, and not at once")
    mutating func afterAFailureOnly() {
        var start = AdapterStart()
        #expect(start.appeared(at: at(0)))
        start.failed(at: at(0), using: &generator)
        #expect(start.nextTime == nil, "nothing wakes up for nobody")
        #expect(!start.appeared(at: at(0.01)))
        guard let next = start.nextTime else {
            Issue.record("it is not tried again")
            return
        }
        #expect(at(0.1) < next && next <= at(0.3))
        #expect(start.isDue(at: next))
    }

    @Test("one that has run for long is started again soon, others ever later")
    mutating func oneThatHasRun() {
        var start = AdapterStart()
        var now = 0.0
        var waits: [Double] = []
        for _ in 0..<60 {
            #expect(start.appeared(at: at(now)))
            start.runs(at: at(now))
            start.ended(at: at(now), using: &generator)
            #expect(!start.appeared(at: at(now)))
            guard let next = start.nextTime else { return Issue.record("it is not tried again") }
            let wait = Double(next.microseconds) / 1_000_000 - now
            waits.append(wait)
            now += wait
            start.forgetAppearance()
        }
        #expect(waits[0] <= 0.3 && waits[59] >= 30)
        #expect(start.appeared(at: at(now)))
        start.runs(at: at(now))
        start.ended(at: at(now + 61), using: &generator)
        #expect(!start.appeared(at: at(now + 61)))
        #expect(start.nextTime.map { $0 <= at(now + 61.3) } ?? false)
    }

    @Test("an application that appears just before its adapter ends is not forgotten")
    mutating func anApplicationThatAppears() {
        var start = AdapterStart()
        #expect(start.appeared(at: at(0)))
        start.runs(at: at(0))
        #expect(!start.appeared(at: at(100)))
        start.ended(at: at(100.5), using: &generator)
        #expect(start.nextTime != nil)
        var other = AdapterStart()
        #expect(other.appeared(at: at(0)))
        other.runs(at: at(0))
        #expect(!other.appeared(at: at(10)))
        other.ended(at: at(100), using: &generator)
        #expect(other.nextTime == nil)
    }

    @Test("whatever happens, there is never a second start under way")
    mutating func whateverHappensThereIs() {
        for _ in 0..<200 {
            var start = AdapterStart()
            var (now, isStarting, isRunning, starts) = (0.0, false, false, 0)
            for _ in 0..<200 {
                now += Double.random(in: 0...1)
                switch Int.random(in: 0..<6) {
                case 0, 1:
                    let isBegun = start.appeared(at: at(now))
                    #expect(!isBegun || !(isStarting || isRunning))
                    if isBegun { (isStarting, starts) = (true, starts + 1) }
                case 2:
                    let isBegun = start.isDue(at: at(now))
                    #expect(!isBegun || !(isStarting || isRunning))
                    if isBegun { (isStarting, starts) = (true, starts + 1) }
                case 3:
                    start.runs(at: at(now))
                    (isStarting, isRunning) = (false, true)
                case 4:
                    start.ended(at: at(now), using: &generator)
                    isRunning = false
                default:
                    start.failed(at: at(now), using: &generator)
                    isStarting = false
                }
                #expect(start.nextTime == nil || !(isStarting || isRunning))
            }
            #expect(starts <= 200)
        }
    }
}

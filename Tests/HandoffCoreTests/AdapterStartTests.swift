// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

/// The state machine, whose calls can stand in an expectation.
private final class Subject {
    private var start = AdapterStart()
    private var generator = SystemRandomNumberGenerator()

    var nextTime: Instant? { start.nextTime }

    func appeared(at now: Instant) -> Bool { start.appeared(at: now) }
    func isDue(at now: Instant) -> Bool { start.isDue(at: now) }
    func forgetAppearance() { start.forgetAppearance() }
    func runs(at now: Instant) { start.runs(at: now) }
    func failed(at now: Instant) { start.failed(at: now, using: &generator) }
    func ended(at now: Instant) { start.ended(at: now, using: &generator) }
}

@Suite("Starting an adapter")
struct AdapterStartTests {
    private func at(_ seconds: Double) -> Instant {
        Instant(microseconds: Int64((seconds * 1_000_000).rounded()))
    }

    @Test("it is started when an application appears, once")
    func itIsStartedWhen() {
        let start = Subject()
        #expect(!start.isDue(at: at(0)) && start.nextTime == nil)
        #expect(start.appeared(at: at(1)))
        #expect(!start.appeared(at: at(1)))
        start.runs(at: at(2))
        #expect(!start.appeared(at: at(3)) && start.nextTime == nil)
    }

    @Test("after a failure only the next application has it tried again, and not at once")
    func afterAFailureOnly() throws {
        let start = Subject()
        #expect(start.appeared(at: at(0)))
        start.failed(at: at(0))
        #expect(start.nextTime == nil, "nothing wakes up for nobody")
        #expect(!start.appeared(at: at(0.01)))
        let next = try #require(start.nextTime)
        #expect(at(0.1) < next && next <= at(0.3))
        #expect(start.isDue(at: next))
    }

    @Test("one that has run for long is started again soon, others ever later")
    func oneThatHasRun() throws {
        let start = Subject()
        var now = 0.0
        var waits: [Double] = []
        for _ in 0..<60 {
            #expect(start.appeared(at: at(now)))
            start.runs(at: at(now))
            start.ended(at: at(now))
            #expect(!start.appeared(at: at(now)))
            let next = try #require(start.nextTime)
            let wait = Double(next.microseconds) / 1_000_000 - now
            waits.append(wait)
            now += wait
            start.forgetAppearance()
        }
        #expect(waits[0] <= 0.3 && waits[59] >= 30)
        #expect(start.appeared(at: at(now)))
        start.runs(at: at(now))
        start.ended(at: at(now + 61))
        #expect(!start.appeared(at: at(now + 61)))
        #expect(start.nextTime.map { $0 <= at(now + 61.3) } ?? false)
    }

    @Test("adapters that end in order after a short use are not failures, however many there are")
    func adaptersThatEndInOrder() throws {
        let start = Subject()
        var now = 0.0
        for _ in 0..<100 {
            #expect(start.appeared(at: at(now)))
            start.runs(at: at(now))
            start.ended(at: at(now + 10))
            #expect(!start.appeared(at: at(now + 10)))
            let next = try #require(start.nextTime)
            #expect(next <= at(now + 10.3))
            now = Double(next.microseconds) / 1_000_000
            start.forgetAppearance()
        }
    }

    @Test("an application that appears just before its adapter ends is not forgotten")
    func anApplicationThatAppears() {
        let start = Subject()
        #expect(start.appeared(at: at(0)))
        start.runs(at: at(0))
        #expect(!start.appeared(at: at(100)))
        start.ended(at: at(100.5))
        #expect(start.nextTime != nil)
        let other = Subject()
        #expect(other.appeared(at: at(0)))
        other.runs(at: at(0))
        #expect(!other.appeared(at: at(10)))
        other.ended(at: at(100))
        #expect(other.nextTime == nil)
    }

    @Test("whatever happens, there is never a second start under way")
    func whateverHappensThereIs() {
        for _ in 0..<200 {
            let start = Subject()
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
                    start.ended(at: at(now))
                    isRunning = false
                default:
                    start.failed(at: at(now))
                    isStarting = false
                }
                #expect(start.nextTime == nil || !(isStarting || isRunning))
            }
            #expect(starts <= 200)
        }
    }
}

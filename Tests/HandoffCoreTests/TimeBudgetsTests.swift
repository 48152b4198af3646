// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

private func at(_ milliseconds: Int64) -> Instant { Instant(microseconds: milliseconds * 1000) }
private func nanoseconds(_ milliseconds: Int64) -> Int64 { milliseconds * 1_000_000 }

private func device(_ number: Int) -> DeviceID? {
    DeviceID(bytes: [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 0, count: 30))
}

private let (a, b, c, d, x) = (device(1), device(2), device(3), device(4), DeviceID?.none)

@Suite("The processor time that others may take")
struct TimeBudgetsTests {
    private var budgets = TimeBudgets()

    /// `key` takes this many milliseconds.
    @discardableResult
    private mutating func take(_ milliseconds: Int64, _ key: DeviceID?, at now: Int64) -> Bool {
        budgets.took(nanoseconds(milliseconds), key, at: at(now))
    }

    @Test("after 20 ms one waits for the next 100, others do not")
    mutating func one() {
        take(19, a, at: 1000)
        #expect(budgets.standing(of: a, at: at(1001)) == .free)
        take(1, a, at: 1010)
        #expect(budgets.standing(of: a, at: at(1010)) == .held(until: at(1100)))
        #expect(budgets.standing(of: a, at: at(1099)) == .held(until: at(1100)))
        #expect(budgets.standing(of: b, at: at(1099)) == .free)
        #expect(budgets.standing(of: a, at: at(1100)) == .free)
    }

    @Test("what may be done even for who is barred is held to the windows alone")
    mutating func pace() {
        #expect(take(10_000, a, at: 0))
        guard case .barred = budgets.standing(of: a, at: at(1)) else {
            Issue.record("it is not barred")
            return
        }
        #expect(budgets.pace(of: a, at: at(1)) == .held(until: at(100)))
        guard case .barred = budgets.standing(of: a, at: at(55_000)) else {
            Issue.record("it is barred no longer")
            return
        }
        #expect(budgets.pace(of: a, at: at(55_000)) == .free)
        #expect(budgets.pace(of: b, at: at(55_000)) == .free)
        take(20, a, at: 55_000)
        #expect(budgets.pace(of: a, at: at(55_001)) == .held(until: at(55_100)))
    }

    @Test("after 50 ms of all together everybody waits who has taken anything to speak of")
    mutating func all() {
        for key in [a, b, c] { take(17, key, at: 0) }
        for key in [a, b, c] {
            #expect(budgets.standing(of: key, at: at(5)) == .held(until: at(100)))
        }
        #expect(budgets.standing(of: d, at: at(5)) == .free)
        take(2, d, at: 6)
        #expect(budgets.standing(of: d, at: at(6)) == .held(until: at(100)))
        for key in [a, b, c, d] { #expect(budgets.standing(of: key, at: at(100)) == .free) }
    }

    @Test("who has taken nothing does not pay what others have taken too much")
    mutating func othersDebt() {
        for key in [a, b, c] { take(100, key, at: 0) }
        for window in Int64(1)..<5 {
            #expect(budgets.standing(of: a, at: at(100 * window)) == .held(until: at(100 * window + 100)))
            #expect(budgets.standing(of: d, at: at(100 * window)) == .free)
        }
    }

    @Test("even of those that take hardly anything no more than ten go on in a window")
    mutating func manyLittle() {
        for key in [a, b, c] { take(17, key, at: 0) }
        for number in 10..<20 {
            #expect(budgets.standing(of: device(number), at: at(5)) == .free)
            // Whatever exceeds that little counts against the budget of all.
            take(5, device(number), at: 5)
        }
        #expect(budgets.standing(of: x, at: at(6)) == .held(until: at(100)))
        #expect(budgets.standing(of: x, at: at(100)) == .free)
    }

    @Test("what each has taken is known")
    mutating func taken() {
        take(30, a, at: 0)
        #expect(budgets.taken(by: a, at: at(0)) == nanoseconds(30))
        #expect(budgets.taken(by: a, at: at(100)) == nanoseconds(10))
        #expect(budgets.taken(by: b, at: at(100)) == 0)
    }

    @Test(
        "whatever others take, who takes half a millisecond at a time never waits for long", arguments: 0..<20
    )
    func modest(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var budgets = TimeBudgets()
        var (now, lastTurn) = (Int64(0), Int64(0))
        for _ in 0..<3000 {
            let key = Int.random(in: 1...8, using: &random)
            if case .free = budgets.standing(of: device(key), at: at(now)) {
                let time = Int64.random(in: 0...40, using: &random)
                now += time
                _ = budgets.took(nanoseconds(time), device(key), at: at(now))
            } else {
                now += 1
            }
            if case .free = budgets.standing(of: device(0), at: at(now)) {
                lastTurn = now
                if Int.random(in: 0..<20, using: &random) == 0 {
                    _ = budgets.took(500_000, device(0), at: at(now))
                }
            }
            // One window, and a piece of work that began in it.
            #expect(now - lastTurn <= 140)
        }
    }

    @Test("what was taken beyond the budget is taken off the next windows")
    mutating func debt() {
        take(70, a, at: 0)
        #expect(budgets.standing(of: a, at: at(100)) == .held(until: at(200)))
        #expect(budgets.standing(of: b, at: at(100)) == .free)
        #expect(budgets.standing(of: a, at: at(200)) == .held(until: at(300)))
        #expect(budgets.standing(of: a, at: at(300)) == .free)
        // This is so unless enough time has passed in the meantime.
        take(70, a, at: 1000)
        #expect(budgets.standing(of: a, at: at(1500)) == .free)
    }

    @Test("10 s within a minute bar for a minute, after which the count begins anew")
    mutating func barring() {
        for second in Int64(0)..<49 { #expect(!take(200, a, at: 1000 * second)) }
        #expect(!take(199, a, at: 49_000))
        #expect(take(1, a, at: 49_500))
        #expect(budgets.standing(of: a, at: at(49_500)) == .barred(until: at(109_500)))
        #expect(budgets.standing(of: a, at: at(109_499)) == .barred(until: at(109_500)))
        #expect(budgets.standing(of: b, at: at(50_000)) == .free)
        #expect(budgets.standing(of: a, at: at(109_500)) == .free)
        #expect(!take(200, a, at: 110_000))
    }

    @Test("what is older than a minute does not count")
    mutating func forgetting() {
        #expect(!take(9900, a, at: 0))
        #expect(!take(9900, a, at: 61_000))
        #expect(take(100, a, at: 62_000))
    }

    @Test("whoever takes nothing any more is forgotten")
    mutating func memory() {
        for number in Int64(0)..<1000 { take(30, device(Int(number)), at: number) }
        _ = budgets.standing(of: x, at: at(200_000))
        #expect(budgets.count == 0)
    }

    @Test(
        "however it is taken, nobody gets more than its share, nor all, but for one piece of work",
        arguments: 0..<20)
    func shares(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var budgets = TimeBudgets()
        var now: Int64 = 0
        var taken = [Int64](repeating: 0, count: 4)
        let largest: Int64 = 40
        for _ in 0..<3000 {
            let key = Int.random(in: 0..<4, using: &random)
            switch budgets.standing(of: device(key), at: at(now)) {
            case .free:
                let time = Int64.random(in: 0...largest, using: &random)
                now += time
                taken[key] += time
                #expect(!budgets.took(nanoseconds(time), device(key), at: at(now)) || taken[key] >= 10_000)
            case .held(let until):
                #expect(until > at(now) && until <= at(now + 100))
                now += Int64.random(in: 1...30, using: &random)
            case .barred(let until):
                #expect(until > at(now))
                now += 1000
            }
            // A window begins with what is done in it, so there may be one more than fits.
            let windows = now / 100 + 2
            #expect(taken.allSatisfy { $0 <= windows * 20 + largest })
            // When everything is used up, at most four continue, each with a last piece of work.
            #expect(taken.reduce(0, +) <= windows * 70 + 5 * largest)
        }
    }
}

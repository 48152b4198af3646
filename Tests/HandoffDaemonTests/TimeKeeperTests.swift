// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import HandoffCore
import HandoffDaemon
import MainLoop
import TestSupport
import Testing

/// Uses up processor time of this thread.
private func burn(_ milliseconds: Int64) {
    func used() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
    let end = used() + milliseconds
    while used() < end {}
}

private let a = DeviceID(bytes: [UInt8](repeating: 1, count: 32))
private let b = DeviceID?.none
private let c = DeviceID(bytes: [UInt8](repeating: 2, count: 32))

@Suite("The time that is kept for peers", .serialized)
struct TimeKeeperTests {
    @Test("who has taken too much waits, and goes on in its order, while others are let in at once")
    func waiting() async throws {
        try await onLoop {
            var order: [String] = []
            let keeper = TimeKeeper { _ in order.append("barred") }
            // On a busy machine its time may be over before it is looked at.
            repeat {
                order = []
                keeper.admit(a) { _ in MainLoop.start { burn(45) } }
                // This comes after the job, and after its cost has been charged.
                try await MainLoop.sleep(for: .milliseconds(1))
            } while keeper.admit(a) { _ in order.append("first") }
            let wereAtOnce = [
                keeper.admit(a) { _ in order.append("second") },
                keeper.admit(b) { _ in order.append("other") },
            ]
            #expect(wereAtOnce == [false, true])
            #expect(keeper.waitingCount(a) == 2 && order == ["other"])
            try await eventually { order.count == 3 }
            #expect(order == ["other", "first", "second"] && keeper.waitingCount(a) == 0)
            let isAtOnce = keeper.admit(a) { order.append("\($0)") }
            #expect(isAtOnce && order.last == "true")
        }
    }

    @Test(
        "of those that wait who has taken the least goes first, one at a time, and others on the loop come between"
    )
    func turns() async throws {
        try await onLoop {
            var order: [String] = []
            let keeper = TimeKeeper { _ in }
            for (key, milliseconds) in [(a, 25), (b, 22), (c, 20)] as [(DeviceID?, Int64)] {
                keeper.spend(milliseconds * 1_000_000, key)
            }
            var between: LoopSource?
            let wereAtOnce = [
                keeper.admit(c) { _ in
                    order.append("first")
                    between = .soon { order.append("between") }
                    // The window has just begun.
                    keeper.spend(10_000_000, a)
                    keeper.spend(5_000_000, b)
                },
                keeper.admit(a) { _ in order.append("much") },
                keeper.admit(b) { _ in order.append("less") },
            ]
            #expect(wereAtOnce == [false, false, false])
            try await eventually { order.count == 4 }
            #expect(order == ["first", "between", "less", "much"])
            _ = between
        }
    }

    @Test("who has taken far too much is told of, once, and what waits is answered with no")
    func barring() async throws {
        try await onLoop {
            var (barred, answers): ([DeviceID?], [Bool]) = ([], [])
            let keeper = TimeKeeper { barred.append($0) }
            let seconds = TimeBudgets.longBudget.components.seconds
            repeat {
                answers = []
                keeper.admit(a) { _ in burn(50) }
                try await MainLoop.sleep(for: .milliseconds(1))
            } while keeper.admit(a) { answers.append($0) }
            for _ in 0..<seconds * 5 where barred.isEmpty {
                // This runs at the expense of `a` although that is held, like work that had already begun.
                keeper.spend(200_000_000, a)
            }
            try await eventually { barred == [a] && answers == [false] }
            #expect(keeper.isBarred(a) && !keeper.isBarred(b))
            let isAtOnce = keeper.admit(a) { answers.append($0) }
            #expect(isAtOnce && answers == [false, false])
        }
    }

    @Test("what is to be done even for who is barred is not refused, and keeps its place and its pace")
    func evenIfBarred() async throws {
        try await onLoop {
            var (isBarred, order): (Bool, [String]) = (false, [])
            let keeper = TimeKeeper { _ in isBarred = true }
            var waitingThen = 0
            // What is too much is deducted from the next windows: some seconds are.
            keeper.spend(1_000_000_000, a)
            keeper.admit(a) {
                order.append("first \($0)")
                waitingThen = keeper.waitingCount(a)
            }
            keeper.admit(a, evenIfBarred: true) { order.append("end \($0)") }
            keeper.admit(a) { order.append("last \($0)") }
            #expect(order.isEmpty && keeper.waitingCount(a) == 3)
            keeper.spend(TimeBudgets.longBudget.components.seconds * 1_000_000_000, a)
            keeper.admit(a) { order.append("refused \($0)") }
            #expect(order == ["refused false"])
            try await eventually { order.count > 1 }
            #expect(order == ["refused false", "first false"])
            #expect(isBarred && waitingThen == 2 && keeper.waitingCount(a) == 2)
        }
    }
}

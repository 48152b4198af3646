// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("The lines about what peers take")
struct FetchLogBudgetTests {
    private let (device, other): (DeviceID, DeviceID)

    init() throws { (device, other) = (try Example.device(1), try Example.device(2)) }

    /// A budget that has had no line left for the device since 0.
    private func exhausted() -> FetchLogBudget {
        var budget = FetchLogBudget()
        for _ in 0..<20 { #expect(budget.take(device, at: .at(0)) == true) }
        return budget
    }

    @Test("each device has twenty lines in any minute, whatever others do")
    func lines() {
        var budget = exhausted()
        #expect(budget.nextDeadline == nil)
        #expect(budget.take(device, at: .at(59_999)) == false)
        #expect(budget.take(other, at: .at(59_999)) == true)
        #expect(budget.take(device, at: .at(60_000)) == true)
    }

    @Test("what goes beyond is counted and told a minute later, in one line")
    func summary() {
        var budget = exhausted()
        for time: Int64 in 1...500 { #expect(budget.take(device, at: .at(time)) == false) }
        #expect(budget.nextDeadline == .at(60_001))
        #expect(budget.advance(to: .at(60_000)) == [])
        #expect(budget.advance(to: .at(60_001)) == [.init(device, 500)])
        #expect(budget.nextDeadline == nil)
        #expect(budget.advance(to: .at(200_000)) == [])
    }

    @Test("while there are lines again, what was left out before is told when it is due")
    func between() {
        var budget = exhausted()
        _ = budget.take(device, at: .at(30_000))
        for _ in 0..<20 { #expect(budget.take(device, at: .at(60_000)) == true) }
        #expect(budget.take(device, at: .at(60_000)) == false)
        #expect(budget.advance(to: .at(90_000)) == [.init(device, 2)])
    }

    @Test("devices about which nothing is to be told any more are forgotten")
    func forgetting() throws {
        var budget = FetchLogBudget()
        for number in 0..<200 {
            _ = budget.take(try Example.device(UInt8(number)), at: .at(Int64(number) * 60_000))
        }
        #expect(budget.count <= 64)
    }

    @Test("nothing is lost, and no minute has more lines than it may", arguments: 1...20)
    func invariants(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var budget = FetchLogBudget()
        var (taken, told, lines, summaries): (UInt64, UInt64, [Int64], [Int64]) = (0, 0, [], [])
        var time: Int64 = 0
        for _ in 0..<2000 {
            time += Int64.random(in: 0...(generator.chance(2) ? 70_000 : 300), using: &generator)
            if let deadline = budget.nextDeadline, deadline <= .at(time) || generator.chance(1) {
                for summary in budget.advance(to: .at(time)) {
                    told += summary.count
                    summaries.append(time)
                }
            }
            taken += 1
            if budget.take(device, at: .at(time)) { lines.append(time) }
        }
        told += budget.advance(to: .at(time + 60_000)).reduce(0) { $0 + $1.count }
        #expect(told + UInt64(lines.count) == taken)
        for (line, later) in zip(lines, lines.dropFirst(20)) { #expect(later - line >= 60_000) }
        for (one, next) in zip(summaries, summaries.dropFirst()) { #expect(next - one >= 60_000) }
    }
}

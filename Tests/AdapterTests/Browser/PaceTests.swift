// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import BrowserAdapter

@Suite("How often something may pass")
struct PaceTests {
    @Test(
        "the first passes at once, of the following the latest when the pause is over, and then nothing waits"
    )
    func latest() {
        var pace = Pace<Int>(pause: 100)
        #expect(pace.came(1, at: 1000) == 1)
        #expect(pace.deadline == nil)
        #expect(pace.came(2, at: 1001) == nil)
        #expect(pace.came(3, at: 1099) == nil)
        #expect(pace.deadline == 1100)
        #expect(pace.due(at: 1099) == nil)
        #expect(pace.due(at: 1100) == 3)
        #expect(pace.deadline == nil)
        #expect(pace.due(at: 1300) == nil)
        #expect(pace.came(4, at: 1300) == 4)
    }

    @Test("whatever comes, no two pass closer together than the pause, and the last one passes")
    func rate() {
        var pace = Pace<Int>(pause: 100)
        var passed: [(at: Int64, element: Int)] = []
        var now: Int64 = 0
        for element in 0..<1000 {
            now += Int64(element * 7919 % 13)
            if let due = pace.came(element, at: now) { passed.append((now, due)) }
        }
        if let deadline = pace.deadline, let due = pace.due(at: deadline) { passed.append((deadline, due)) }
        #expect(passed.last?.element == 999)
        #expect(
            zip(passed, passed.dropFirst()).allSatisfy { $1.at - $0.at >= 100 && $0.element < $1.element })
    }
}

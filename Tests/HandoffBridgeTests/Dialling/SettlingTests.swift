// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import HandoffBridge

@Suite("Changes that come in swarms")
struct SettlingTests {
    private var settling = Settling(quiet: 1000, ceiling: 5000)

    @Test("a single change is looked at when it has been quiet")
    mutating func single() {
        #expect(settling.deadline == nil)
        #expect(settling.settle(at: 9) == false)
        settling.changed(at: 10)
        #expect(settling.deadline == 1010)
        #expect(settling.settle(at: 1009) == false)
        #expect(settling.settle(at: 1010) == true)
        #expect(settling.deadline == nil)
        #expect(settling.settle(at: 9999) == false)
    }

    @Test("changes that never cease are looked at all the same")
    mutating func endless() {
        var times: [Int64] = []
        for now in stride(from: Int64(0), to: 20_000, by: 100) {
            settling.changed(at: now)
            if settling.settle(at: now) { times.append(now) }
        }
        #expect(times == [5000, 10_100, 15_200])
    }
}

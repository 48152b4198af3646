// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("How often something may happen")
struct EventRateTests {
    private static func time(_ microseconds: Int64) -> Instant { Instant(microseconds: microseconds) }

    @Test("events are counted against the limit of any one second")
    func rate() {
        var rate = EventRate(limit: 3)
        let times: [Int64] = [0, 100, 999_999, 999_999, 1_000_000, 1_000_000, 1_000_100]
        #expect(rate.nextAllowed(at: Self.time(5)) == Self.time(5))
        #expect(
            times.map { rate.count(at: Self.time($0)) } == [true, true, true, false, true, false, true])
        #expect(rate.nextAllowed(at: Self.time(1_000_100)) == Self.time(1_999_999))
    }

    @Test("what is allowed beyond the limit for once is waited for afterwards")
    func extra() {
        var rate = EventRate(limit: 1, period: .seconds(60))
        rate.add(at: Self.time(0))
        #expect(!rate.allows(at: Self.time(1)) && rate.allows(extra: 1, at: Self.time(1)))
        rate.add(at: Self.time(1))
        #expect(!rate.allows(extra: 1, at: Self.time(2)))
        #expect(rate.nextAllowed(at: Self.time(2)) == Self.time(60_000_001))
        #expect(rate.nextAllowed(at: Self.time(60_000_001)) == Self.time(60_000_001))
    }

    @Test("what is taken back leaves room, and what is long ago matters no more")
    func removed() {
        var rate = EventRate(limit: 2)
        rate.add(at: Self.time(0))
        rate.add(at: Self.time(7))
        rate.remove(Self.time(0))
        rate.remove(Self.time(3))
        #expect(rate.count(at: Self.time(8)) && !rate.allows(at: Self.time(8)))
        #expect(!rate.isIdle(at: Self.time(1_000_007)) && rate.isIdle(at: Self.time(1_000_008)))
    }
}

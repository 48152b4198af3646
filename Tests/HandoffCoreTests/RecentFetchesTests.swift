// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("What peers have fetched")
struct RecentFetchesTests {
    @Test("the last ten fetches are remembered, the latest first")
    func lastTen() throws {
        var recent = RecentFetches()
        for number in 0..<25 {
            #expect(recent.fetches.count == min(number, 10))
            recent.add(
                RecentFetches.Fetch(
                    continuation: try Example.continuation(UInt8(number)), time: Int64(number),
                    device: try Example.device(1), deviceName: "Laptop",
                    type: try Example.type("edit"),
                    applicationID: try Example.application(), title: "Letter \(number)"))
        }
        #expect(recent.fetches.map(\.time) == (15..<25).reversed().map { Int64($0) })
    }

    @Test("a fetch that is repeated for one continuation takes one place")
    func repeated() throws {
        var recent = RecentFetches()
        for time in Int64(0)..<25 {
            recent.add(
                RecentFetches.Fetch(
                    continuation: try Example.continuation(time == 0 ? 1 : 2), time: time,
                    device: try Example.device(1), deviceName: "Laptop", type: try Example.type("edit"),
                    applicationID: try Example.application(), title: "Letter"))
        }
        #expect(recent.fetches.map(\.time) == [24, 0])
    }
}

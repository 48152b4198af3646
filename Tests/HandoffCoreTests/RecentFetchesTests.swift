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
                    time: Int64(number), device: try Example.device(1), deviceName: "Laptop",
                    type: try Example.type("edit"),
                    applicationID: try Example.application(), title: "Letter \(number)"))
        }
        #expect(recent.fetches.map(\.time) == (15..<25).reversed().map { Int64($0) })
    }
}

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
        #expect(recent.devices.map(\.fetches) == [2])
    }

    private func fetch(
        _ device: UInt8, _ continuation: UInt8, _ time: Int64, _ kind: RecentFetches.Kind = .activity
    ) throws -> RecentFetches.Fetch {
        RecentFetches.Fetch(
            kind, continuation: try Example.continuation(continuation), time: time,
            device: try Example.device(device), deviceName: "Device \(device)", type: try Example.type(),
            applicationID: try Example.application(), title: "Letter")
    }

    @Test("however much one device fetches, the last of each other one stays to be seen")
    func byDevice() throws {
        var recent = RecentFetches()
        recent.add(try fetch(1, 1, 1))
        for number in UInt8(2)..<60 { recent.add(try fetch(2, number, Int64(number))) }
        #expect(recent.fetches.allSatisfy { $0.deviceName == "Device 2" })
        #expect(recent.devices.map(\.last.deviceName) == ["Device 2", "Device 1"])
        #expect(recent.devices.map(\.fetches) == [58, 1])
        #expect(recent.devices.map(\.last.time) == [59, 1])
    }

    @Test("streams are counted apart, each as one of its own")
    func streams() throws {
        var recent = RecentFetches()
        recent.add(try fetch(1, 1, 1))
        for time in Int64(2)...4 { recent.add(try fetch(1, 1, time, .stream)) }
        recent.add(try fetch(1, 1, 5))
        #expect(recent.fetches.map(\.time) == [5, 4, 3, 2])
        #expect(recent.fetches.map(\.kind) == [.activity, .stream, .stream, .stream])
        #expect(recent.devices.map(\.fetches) == [1] && recent.devices.map(\.streams) == [3])
        #expect(recent.devices.map(\.last.time) == [5])
    }

    @Test("no more devices are remembered than there may be peers: those that fetched last")
    func manyDevices() throws {
        var recent = RecentFetches()
        for number in UInt8(0)..<200 { recent.add(try fetch(number, 1, Int64(number))) }
        #expect(recent.devices.count == Quota.peers)
        #expect(recent.devices.first?.last.time == 199 && recent.devices.last?.last.time == 138)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import Testing

@testable import HandoffBridge

@Suite("What waits for devices that are away")
struct OutboxItemsTests {
    private let (tablet, desk): (DeviceID, DeviceID)
    private let week: Int64 = 7 * 86_400 * 1_000_000

    init() throws {
        tablet = try #require(DeviceID(String(repeating: "1", count: 64)))
        desk = try #require(DeviceID(String(repeating: "2", count: 64)))
    }

    private func item(_ number: Int, for device: DeviceID, sentAt: Int64 = 1) throws -> OutboxItem {
        let digits = String(number)
        let id = try #require(ActivityID(String(repeating: "0", count: 32 - digits.count) + digits))
        return OutboxItem(
            id: id, device: device, origin: try #require(ActivityID(String(repeating: "a", count: 32))),
            summary: ["Title": .string("Letter \(number)"), "Revision": .uint64(7)],
            payload: try PackedProperties(["Title": .string("Letter"), "bulk": .string(digits)]),
            sentAt: sentAt)
    }

    private func continuation(_ digit: String) throws -> ContinuationID {
        try #require(ContinuationID(String(repeating: digit, count: 32)))
    }

    @Test("is for its device alone, sixteen in all, and none makes room for another")
    func limits() throws {
        var items = OutboxItems()
        for number in 1...16 { try items.add(try item(number, for: number % 2 == 0 ? tablet : desk)) }
        #expect(throws: HandoffFailure.self) { try items.add(try item(17, for: tablet)) }
        #expect(items.items(for: tablet).map(\.sentAt).count == 8)
        let first = try item(1, for: desk)
        #expect(items.item(first.id, for: tablet) == nil)
        let others = items.fetch(first.id, for: try continuation("c"), by: tablet)
        #expect(others == nil)
        #expect(items.item(of: try continuation("c"), by: tablet) == nil)
        let own = items.fetch(first.id, for: try continuation("c"), by: desk)
        #expect(own == first)
        #expect(items.item(of: try continuation("c"), by: tablet) == nil)
        #expect(items.item(of: try continuation("c"), by: desk) == first)
        items.remove(first.id)
        #expect(items.item(of: try continuation("c"), by: desk) == nil)
        let hasForgotten = [items.forget(tablet), items.forget(tablet)]
        #expect(hasForgotten == [true, false])
        #expect(items.all.count == 7)
    }

    @Test("waits for seven days, whatever the clock says now")
    func expiry() throws {
        var items = OutboxItems([
            try item(1, for: tablet, sentAt: 5), try item(2, for: desk, sentAt: .max - 1),
            try item(3, for: desk, sentAt: -5),
        ])
        var gone: [Int] = []
        for now in [week - 6, week - 5, week + 5, Int64.max - 1] { gone.append(items.expire(at: now).count) }
        #expect(gone == [0, 1, 1, 0])
        #expect(items.all.map(\.sentAt) == [.max - 1] && items.nextExpiry == .max)
    }

    @Test("has arrived once")
    func arrived() throws {
        var items = OutboxItems([try item(1, for: tablet)])
        let id = items.all[0].id
        let isNews = [items.arrived(id, at: 9), items.arrived(id, at: 10)]
        #expect(isNews == [true, false])
        #expect(items.all[0].arrivedAt == 9)
    }

    @Test("is read from the file as it was written, and from no file that is damaged in any byte")
    func file() throws {
        var items = OutboxItems([try item(1, for: tablet), try item(2, for: desk, sentAt: 99)])
        _ = items.arrived(items.all[0].id, at: 5)
        let bytes = try OutboxFile.render(items.all)
        #expect(try OutboxFile.parse(bytes) == items.all)
        #expect(try OutboxFile.parse([]).isEmpty)
        for length in 1..<bytes.count {
            guard let some = try? OutboxFile.parse(Array(bytes[..<length])) else { continue }
            // It was cut between the two.
            #expect(some == [items.all[0]])
        }
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0x20
            // Whatever comes of it, it is checked.
            _ = try? OutboxFile.parse(damaged)
        }
        var other = bytes
        let place = try #require(
            bytes.indices.first { bytes[$0...].starts(with: Array("Item1".utf8)) })
        other[place] = UInt8(ascii: "X")
        #expect(throws: (any Error).self) { try OutboxFile.parse(other) }
    }

    @Test("takes four megabytes at most")
    func size() throws {
        let bulk = try PackedProperties(["bulk": .string(String(repeating: "x", count: 300_000))])
        let items = try (1...16).map { number in
            let small = try item(number, for: tablet)
            return OutboxItem(
                id: small.id, device: tablet, origin: small.origin, summary: small.summary, payload: bulk,
                sentAt: 1)
        }
        #expect(try OutboxFile.render(Array(items.prefix(13))).count < OutboxFile.maximumSize)
        #expect(throws: DBusError.self) { try OutboxFile.render(items) }
    }
}

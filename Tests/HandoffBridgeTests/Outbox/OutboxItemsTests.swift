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

    private func item(
        _ number: Int, for device: DeviceID, of origin: String? = nil, sentAt: Int64 = 1, expires: Int64 = 0
    ) throws -> OutboxItem {
        let digits = String(number)
        let id = try #require(ActivityID(String(repeating: "0", count: 32 - digits.count) + digits))
        return OutboxItem(
            id: id, device: device,
            origin: try origin.map { try #require(ActivityID(String(repeating: $0, count: 32))) } ?? id,
            summary: ["Title": .string("Letter \(number)"), "Revision": .uint64(7)],
            payload: try PackedProperties([
                "Title": .string("Letter"), "bulk": .string(digits), "ExpirationDate": .int64(expires),
            ]),
            sentAt: sentAt)
    }

    private func continuation(_ digit: String) throws -> ContinuationID {
        try #require(ContinuationID(String(repeating: digit, count: 32)))
    }

    @Test("is for its device alone, sixteen in all, and none makes room for another")
    func limits() throws {
        var items = OutboxItems()
        for number in 1...16 { _ = try items.add(try item(number, for: number % 2 == 0 ? tablet : desk)) }
        #expect(throws: HandoffFailure.self) { _ = try items.add(try item(17, for: tablet)) }
        #expect(items.items(for: tablet).count == 8)
        let first = try item(1, for: desk)
        #expect(items.item(first.id, for: tablet) == nil)
        let others = items.fetch(first.id, for: try continuation("c"), by: tablet)
        #expect(others == nil)
        let hasForgotten = [items.keep(only: [desk]), items.keep(only: [desk])]
        #expect(hasForgotten == [true, false])
        #expect(items.all.count == 8)
    }

    @Test("takes the place of what was sent of the same activity to the same device before")
    func again() throws {
        var items = OutboxItems()
        let first = try item(1, for: tablet, of: "a")
        for (number, device, origin, former) in [
            (1, tablet, "a", nil), (2, desk, "a", nil), (3, tablet, "b", nil), (4, tablet, "a", first.id),
        ] {
            let replaced = try items.add(try item(number, for: device, of: origin))
            #expect(replaced?.id == former)
        }
        #expect(items.all.map(\.id) == (try (2...4).map { try item($0, for: desk).id }))
    }

    @Test(
        "what was fetched is known by its continuation, also when it waits no longer, until that is released")
    func fetching() throws {
        let (first, one) = (try item(1, for: desk), try continuation("c"))
        var items = OutboxItems([first])
        let fetched = items.fetch(first.id, for: one, by: desk)
        #expect(fetched == first)
        items.remove(first.id)
        #expect(items.fetched(for: one, by: tablet) == nil)
        #expect(items.fetched(for: one, by: desk)?.revision == 7)
        #expect(items.fetched(of: first.id, by: desk)?.continuation == one)
        items.released(one, by: tablet)
        #expect(items.fetched(for: one, by: desk) != nil)
        items.released(one, by: desk)
        #expect(items.fetched(for: one, by: desk) == nil)
    }

    @Test("waits for seven days, or until it expires, whatever the clock says now")
    func expiry() throws {
        var items = OutboxItems([
            try item(1, for: tablet, sentAt: 5), try item(2, for: desk, sentAt: .max - 1),
            try item(3, for: desk, sentAt: -5), try item(4, for: desk, sentAt: 5, expires: 99),
        ])
        var gone: [Int] = []
        for now in [98, 99, week - 6, week - 5, week + 5, Int64.max - 1] {
            gone.append(items.expire(at: now).count)
        }
        #expect(gone == [0, 1, 0, 1, 1, 0])
        #expect(items.all.map(\.sentAt) == [.max - 1] && items.nextExpiry == .max)
    }

    @Test("has arrived once, and says why it was not taken last")
    func arrived() throws {
        var items = OutboxItems([try item(1, for: tablet)])
        let id = items.all[0].id
        let refusal = ShownError(HandoffFailure(.limitsExceeded, "Too much."))
        var isNews: [Bool] = []
        for (time, error) in [(8, refusal), (9, ShownError.none), (10, .none), (11, refusal)] {
            isNews.append(items.offered(id, at: Int64(time), error))
        }
        #expect(isNews == [false, true, false, false])
        #expect(items.all[0].arrivedAt == 9 && items.all[0].error == refusal)
    }

    @Test("is read from the file as it was written, and from no file that is damaged in any byte")
    func file() throws {
        var items = OutboxItems([try item(1, for: tablet), try item(2, for: desk, sentAt: 99)])
        _ = items.offered(items.all[0].id, at: 5)
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

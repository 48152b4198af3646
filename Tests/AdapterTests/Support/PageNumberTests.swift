// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Testing

@testable import AdapterSupport

@Suite("A page")
struct PageNumberTests {
    @Test("counts from 1, and no document has more than there may be")
    func range() {
        for (number, page) in [
            (1, 1), (100_000, 100_000), (0, nil), (-1, nil), (100_001, nil), (.max, nil), (.min, nil),
        ]
            as [(Int64, Int?)]
        {
            #expect(PageNumber(number)?.number == page)
        }
        for (index, page) in [(0, 1), (99_999, 100_000), (100_000, nil), (-1, nil), (.max, nil), (.min, nil)]
            as [(Int64, Int?)]
        {
            #expect(PageNumber(index: index)?.number == page)
        }
    }

    @Test("is a whole number of any type, and nothing else")
    func values() throws {
        let values: [Value] = [.byte(4), .int16(4), .uint16(4), .int32(4), .uint32(4), .int64(4), .uint64(4)]
        for value in values { #expect(PageNumber(value)?.number == 4) }
        for value in [.string("4"), .double(4), .boolean(true), .uint64(.max), .int32(-1), .strings(["4"])]
            as [Value]
        {
            #expect(PageNumber(value) == nil)
        }
        #expect(PageNumber(nil as Value?) == nil)
        let page = try #require(PageNumber(4))
        #expect(PageNumber(page.value) == page && page.index == 3)
    }
}

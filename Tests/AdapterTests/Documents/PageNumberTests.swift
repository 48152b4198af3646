// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Testing

@testable import DocumentsAdapter

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

    @Test(
        "is what GVfs says of Evince's, which counts from 0",
        arguments: [
            ("uri: file:///x\nattributes:\n  metadata::evince::page: 3\n", 4), ("", nil),
            ("attributes:\n", nil), ("  metadata::evince::page: -1\n", nil),
            ("  metadata::evince::page: 3 4\n", nil),
            ("  metadata::evince::page: 99999999999999999999\n", nil),
            ("  metadata::evince::page-label: 3\n", nil),
        ] as [(String, Int?)])
    func metadata(_ text: String, _ page: Int?) {
        #expect(GVfsMetadata.page(in: text)?.number == page)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import HandoffAgent

@Suite("What an agent writes down for the next one")
struct NoticeRecordTests {
    @Test("is read as it was written", arguments: [[], [1], [1, 2, .max]] as [Set<UInt32>])
    func whole(_ numbers: Set<UInt32>) {
        let record = NoticeRecord(bus: "0123", server: ":1.5", numbers: numbers)
        #expect(NoticeRecord(record.bytes) == record)
    }

    @Test(
        "is nothing if it is damaged",
        arguments: ["", "a\n", "a\nb\nc\n", "a\nb\n1 2\n", "a\nb\n-1\n", "a\nb\n4294967296\n"])
    func damaged(_ text: String) { #expect(NoticeRecord(Array(text.utf8)) == nil) }

    @Test("is never too long to be read, and keeps the newest")
    func long() throws {
        let numbers = Set<UInt32>((0..<500).map { UInt32.max - UInt32($0) })
        let record = NoticeRecord(bus: "0123", server: ":1.5", numbers: numbers)
        #expect(record.bytes.count <= NoticeRecord.maximumSize)
        #expect(record.numbers.contains(.max))
        #expect(NoticeRecord(record.bytes) == record)
        #expect(NoticeRecord([UInt8](repeating: 0xFF, count: 8)) == nil)
    }
}

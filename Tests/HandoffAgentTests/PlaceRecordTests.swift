// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import HandoffAgent

@Suite("Which places an agent writes down for the next one")
struct PlaceRecordTests {
    @Test("they are read as they were written, each once")
    func whole() throws {
        var record = PlaceRecord()
        for id in ["arrival", "invited-1", "arrival", "window"] { record.note(id, isShown: true) }
        record.note("window", isShown: false)
        record.note("continued", isShown: false)
        #expect(record.ids == ["invited-1", "arrival"])
        #expect(PlaceRecord(record.bytes) == record)
        #expect(PlaceRecord([])?.ids == [])
    }

    @Test(
        "there are none if what was written is damaged",
        arguments: [
            "a b\n", "a\0b\n", "é\n", String(repeating: "a", count: 201),
            String(repeating: "a\n", count: 129),
        ])
    func damaged(_ text: String) { #expect(PlaceRecord(Array(text.utf8)) == nil) }

    @Test("there are never too many to be read, and the newest are kept")
    func many() {
        var record = PlaceRecord()
        let ids = (0..<500).map { String(repeating: "a", count: 190) + "\($0)" }
        for id in ids { record.note(id, isShown: true) }
        record.note(String(repeating: "b", count: 201), isShown: true)
        #expect(record.ids == ids.suffix(128))
        #expect(PlaceRecord(record.bytes) == record)
        #expect(PlaceRecord([UInt8](repeating: 0xFF, count: 8)) == nil)
    }
}

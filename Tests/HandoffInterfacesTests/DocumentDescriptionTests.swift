// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import TestSupport
import Testing

@Suite("What is said about a document")
struct DocumentDescriptionTests {
    private static let full: [String: Value] = [
        "Name": .string("Brief.odt"), "Size": .uint64(.max), "ContentType": .string("text/plain"),
        "Modified": .int64(-1),
    ]

    @Test("all of it is optional, and the rest is dropped")
    func optional() throws {
        let empty = try DocumentDescription([:])
        #expect(empty.name == "" && empty.size == nil && empty.contentType == "" && empty.modified == nil)
        #expect(empty.about == [:])
        let full = try DocumentDescription(Self.full.merging(["Path": .string("/etc/shadow")]) { $1 })
        #expect(full.about == Self.full)
        #expect(try DocumentDescription(["Modified": .int64(0)]).about == [:])
    }

    @Test("a text has 255 bytes at most", arguments: ["Name", "ContentType"])
    func length(key: String) throws {
        let longest = String(repeating: "ä", count: 127) + "x"
        #expect(try DocumentDescription([key: .string(longest)]).about == [key: .string(longest)])
        let failure = #expect(throws: HandoffFailure.self) {
            try DocumentDescription([key: .string(longest + "x")])
        }
        #expect(failure?.code == .invalidArguments)
        #expect(failure?.message == "\(key) has 256 bytes. Give at most 255.")
    }

    @Test("a value of another type is refused, and the key is named", arguments: full.keys.sorted())
    func types(key: String) {
        for value: Value in [.int32(1), .boolean(true), .bytes([1]), .properties([:])] {
            let failure = #expect(throws: HandoffFailure.self) { try DocumentDescription([key: value]) }
            #expect(failure?.code == .invalidArguments)
            #expect(failure?.message.hasPrefix("\(key) has the type") == true)
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Testing

@testable import HandoffCommand

@Suite("JSON")
struct JSONTests {
    @Test("values are written on one line")
    func writing() {
        let value: JSON = [
            "a": .array([.integer(1), .null, .boolean(true)]), "b": ["c": "d"], "e": .object([]),
            "f": .array([]),
        ]
        #expect(value.text == #"{"a":[1,null,true],"b":{"c":"d"},"e":{},"f":[]}"#)
    }

    @Test("what could steer a terminal or end the line is escaped, and nothing else but quotes")
    func escapes() {
        #expect(
            JSON.string("a\"\\\n\u{1B}[31m\u{202E}\u{9B}é漢🙂").text == #""a\"\\\n\u001b[31m\u202e\u009bé漢🙂""#)
        #expect(JSON.object([.init(name: "\u{0}", value: .null)]).text == #"{"\u0000":null}"#)
        #expect(JSON.string("\u{2028}").text == #""\u2028""#)
    }

    @Test("numbers keep every digit, and what JSON has no number for is null")
    func numbers() {
        #expect(JSON(.uint64(.max)).text == "18446744073709551615")
        #expect(JSON(.int64(.min)).text == "-9223372036854775808")
        #expect(JSON(.double(0.1)).text == "0.1")
        #expect(JSON(.double(1e300)).text == "1e+300")
        #expect(JSON(.double(.infinity)).text == "null")
        #expect(JSON(.double(.nan)).text == "null")
    }

    @Test("a D-Bus value becomes plain JSON")
    func values() throws {
        let numbers = try Value.dictionary(
            key: "u", value: "s", [(.uint32(1), .string("one")), (.uint32(2), .string("two"))])
        #expect(JSON(numbers).text == #"{"1":"one","2":"two"}"#)
        let tagged = try Value.structure([.string("date"), .variant(.int64(5))])
        #expect(JSON(.properties(["when": tagged])).text == #"{"when":["date",5]}"#)
        #expect(JSON(.bytes([0, 255])).text == "[0,255]")
        #expect(JSON(.strings([])).text == "[]")
    }
}

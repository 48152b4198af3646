// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import Platform

@Suite("Texts for people")
struct TranslationTests {
    @Test(
        "values are put in by their names, once, and what has no value stays",
        arguments: [
            ("no names", [:], "no names"), ("{a} and {b}", ["a": "1", "b": "2"], "1 and 2"),
            ("{a}{a}", ["a": "x"], "xx"), ("{a} {c}", ["a": "1"], "1 {c}"),
            ("{a}", ["a": "{a}{b}", "b": "no"], "{a}{b}"),
            ("{", ["a": "1"], "{"), ("{a", ["a": "1"], "{a"), ("}{a}{", ["a": "1"], "}1{"),
            ("{{a}}", ["a": "1"], "{1}"),
            ("{}", ["": "x"], "x"),
        ] as [(String, [String: String], String)])
    func filling(_ text: String, _ values: [String: String], _ result: String) {
        #expect(Translation.filled(text, values) == result)
    }

    @Test("without a translation a text is what it is in the source, and a count chooses its form")
    func untranslated() {
        #expect(tr("Nothing translates {this}.", ["this": "that"]) == "Nothing translates that.")
        #expect(trn("{count} thing", "{count} things", count: 1) == "1 thing")
        #expect(trn("{count} thing", "{count} things", count: 0) == "0 things")
        #expect(trn("{count} of {all}", "{count} of all {all}", count: 7, ["all": "9"]) == "7 of all 9")
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffClient
import HandoffCore
import HandoffStatus
import Testing

@testable import HandoffCommand

@Suite("Text for people")
struct TextTests {
    @Test("columns line up, wide and combining characters counted as they are shown")
    func table() {
        var table = Table("ID", "NAME", "END")
        table.add("a", "漢字", "x")
        table.add("abc", "e\u{301}", "")
        table.add("a", "a\u{1B}b", "y")
        #expect(
            table.lines == ["ID   NAME  END", "a    漢字  x", "abc  e\u{301}     -", "a    a\u{FFFD}b   y"])
    }

    @Test("where a terminal is narrow the widest columns that may be cut are, and nothing else")
    func narrowTable() {
        var table = Table("ID", "TITLE", "TYPE", shrinking: ["TITLE", "TYPE"])
        table.add("0123456789", "A title that is long", "org.example.type")
        #expect(table.lines(columns: nil)[1] == "0123456789  A title that is long  org.example.type")
        #expect(table.lines(columns: 40)[1] == "0123456789  A title that…  org.example.…")
        #expect(table.lines(columns: 40).allSatisfy { $0.displayWidth <= 40 })
        // Where that is not enough, the rest stands below.
        #expect(
            table.lines(columns: 24)[1] == "0123456789\n  A title that is long\n  org.example.type")
        #expect(table.lines(columns: 24)[0] == "ID\n  TITLE\n  TYPE")
        // As narrow as it gets.
        #expect(table.lines(columns: 1)[1] == "0123456789\n  A title…\n  org.exa…")
        #expect("漢字漢字".cut(to: 5) == "漢字…")
    }

    @Test(
        "where the locale has no Unicode, what comes nearest is shown",
        arguments: [("plain", "plain"), ("“a” … ‘b’", "\"a\" ... 'b'"), ("é", "e"), ("漢", "?")])
    func ascii(_ text: String, _ expected: String) { #expect(Terminal.ascii(text) == expected) }

    @Test("JSON stays what it is in ASCII")
    func asciiJSON() {
        #expect((["ä": "漢🙂"] as JSON).text(isASCII: true) == #"{"\u00e4":"\u6f22\ud83d\ude42"}"#)
    }

    @Test(
        "what could steer a terminal is replaced",
        arguments: [
            ("plain é🙂", "plain é🙂"), ("\u{1B}[0m\u{7F}\u{85}\n", "\u{FFFD}[0m\u{FFFD}\u{FFFD}\u{FFFD}"),
            ("a\u{202E}b\u{2069}\u{200F}", "a\u{FFFD}b\u{FFFD}\u{FFFD}"), ("\u{2028}", "\u{FFFD}"),
        ])
    func shown(_ text: String, _ expected: String) { #expect(text.shown == expected) }

    @Test(
        "an age is told in its largest unit",
        arguments: [
            (0, "just now"), (-5, "just now"), (1, "1 s ago"), (59, "59 s ago"), (60, "1 min ago"),
            (3599, "59 min ago"), (3600, "1 h ago"), (86_399, "23 h ago"), (86_400, "1 d ago"),
        ])
    func age(_ seconds: Int64, _ expected: String) {
        let now: Int64 = 1_800_000_000_000_000
        #expect(Age.text(of: now - seconds * 1_000_000, at: now) == expected)
    }

    @Test("times that are none, or nonsense, don't crash")
    func oddAges() {
        #expect(Age.text(of: 0, at: 5) == "")
        #expect(Age.text(of: .min, at: .max) == "just now")
        #expect(Age.milliseconds(12_345) == "12.3 ms")
    }

    @Test("ids are cut to eight characters, or as many as tell them apart")
    func shortIDs() {
        let (a, b) = ("0123456789abcdef", "01234567aaaaaaaa")
        #expect(ShortIDs([a]).short(a) == "01234567")
        #expect(ShortIDs([a, b]).short(a) == "012345678")
        #expect(ShortIDs([a, a]).short(a) == "01234567")
        #expect(ShortIDs([]).short(a) == "01234567")
    }
}

@Suite("The bar of a continuation")
struct ProgressBarTests {
    @Test(
        "it shows the share in as many columns as there are, in ASCII where there is nothing else",
        arguments: [
            (0, 80, true, "[" + String(repeating: "░", count: 40) + "]   0 %"),
            (
                0.5, 80, false,
                "[" + String(repeating: "#", count: 20) + String(repeating: "-", count: 20) + "]  50 %"
            ),
            (1, 80, true, "[" + String(repeating: "█", count: 40) + "] 100 %"),
            (0.999, 19, false, "[#########-]  99 %"), (0.5, 10, true, "[░]  50 %"), (0.5, 9, true, " 50 %"),
            (0.5, 0, true, " 50 %"), (-1, 9, true, "  0 %"), (.nan, 9, true, "  0 %"),
            (.infinity, 9, true, "100 %"),
        ] as [(Double, Int, Bool, String)])
    func bar(_ share: Double, _ columns: Int, _ isUnicode: Bool, _ expected: String) {
        #expect(ProgressBar.text(share, columns: columns, isUnicode: isUnicode) == expected)
    }
}

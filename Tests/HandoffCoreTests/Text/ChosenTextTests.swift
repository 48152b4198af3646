// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Text that somebody else chose, in a place of its own")
struct ChosenTextTests {
    @Test(
        "what is harmless stays as it is",
        arguments: [
            "Pixel 7", "ThinkPad X1 Carbon", "Büro-Rechner", "漢字の箱", "חדר עבודה", "👨‍👩‍👧‍👦 ❤️", "lap (2)",
            "ubuntu 22.04",
            "DESKTOP-4F8A1B", "iOS 2024", "Gen 10 of 2021", "Solo 10", "",
        ])
    func harmless(_ text: String) {
        #expect(ChosenText(name: text).shown == text)
        #expect(ChosenText(title: text).shown == text)
    }

    @Test(
        "no quotation mark ends the quotation",
        arguments: [
            ("a”b“c", "a'b'c"), ("a\"b", "a'b"), ("«a» ‹b›", "'a' 'b'"), ("„a‟", "'a'"), ("「a」『b』", "'a'b'"),
            ("＂a＇", "'a'"), ("a``b´´", "a'b'"), ("a''b", "a'b"), ("a″b‶c〃d", "a'b'c'd"), ("〝a〞〟", "'a'"),
            ("❝a❞", "'a'"), ("🙶a🙷🙸", "'a'"), ("Anna’s phone", "Anna's phone"), ("ʺaˮ˝", "'a'"),
            ("a״b", "a'b"),
        ])
    func quotes(_ text: String, _ expected: String) {
        #expect(ChosenText(title: text).shown == expected)
        #expect(ChosenText(name: text).quoted == "“\(expected)”")
    }

    @Test(
        "a group of six digits is none any more in a name",
        arguments: [
            ("123 456", "### ###"), ("123456", "######"), ("1-2-3-4-5-6", "#-#-#-#-#-#"),
            ("12.34.56", "##.##.##"),
            ("code:123\u{A0}456!", "code:### ###!"), ("123\u{200B}456", "######"),
            ("1\u{2060}23456", "######"),
            ("１２３ ４５６", "### ###"), ("١٢٣ ٤٥٦", "### ###"), ("१२३४५६", "######"), ("𝟏𝟐𝟑 𝟜𝟝𝟞", "### ###"),
            ("①②③④⑤⑥", "######"), ("¹²³ ⁴⁵⁶", "### ###"), ("㉑㉒㉓", "###"), ("一二三四五六", "######"),
            ("l23 4S6", "### ###"), ("I23 O5б", "### ###"), ("Ｏ12 345", "### ###"),
            ("8f3a91c245", "#f#a##c###"),
            ("1\u{FE0F}\u{20E3}2\u{20E3}3\u{20E3}4 5 6", "#\u{FE0F}\u{20E3}#\u{20E3}#\u{20E3}# # #"),
            ("12345", "12345"), ("123 and 456", "123 and 456"), ("1\u{301}23 456", "#\u{301}## ###"),
        ])
    func digits(_ text: String, _ expected: String) {
        #expect(ChosenText(name: text).shown == expected)
    }

    @Test("a title keeps its digits, as no code is near")
    func titles() { #expect(ChosenText(title: "Invoice 123 456").shown == "Invoice 123 456") }

    @Test(
        "nothing leaves its line or column",
        arguments: [
            ("a\nb\r\u{85}c", "a\u{FFFD}b\u{FFFD}\u{FFFD}c"), ("a\u{2028}b\u{2029}", "a\u{FFFD}b\u{FFFD}"),
            ("a\u{1B}[2Jb", "a\u{FFFD}[2Jb"), ("a\u{9B}b\u{7F}", "a\u{FFFD}b\u{FFFD}"),
            ("a\u{0}b", "a\u{FFFD}b"),
            ("lap     paired", "lap paired"), ("a\u{3000}\u{A0}\u{2003}b", "a b"),
            ("a\u{2800}\u{3164}b", "a b"), ("a\u{1D159}\u{1D159}\u{13441} b", "a b"),
            ("  a  ", "a"), (" \u{2800} ", ""),
            ("a\u{202E}b\u{2066}c\u{200F}", "a\u{FFFD}b\u{FFFD}c\u{FFFD}"),
            ("\u{301}a", "a"), ("a\u{AD}\u{E0041}b", "ab"), ("a\u{E000}b", "a\u{FFFD}b"),
        ])
    func places(_ text: String, _ expected: String) {
        #expect(ChosenText(title: text).shown == expected)
        #expect(ChosenText(name: text).shown == expected)
    }

    @Test("what is very long is cut, and shows it")
    func lengths() {
        let name = ChosenText(name: String(repeating: "é", count: 100_000)).shown
        #expect(name.count == PeerText.maximumName)
        #expect(name.last == "…")
        #expect(
            ChosenText(title: String(repeating: "ab ", count: 1000)).shown.count <= ChosenText.maximumTitle)
        let tower = ChosenText(name: "a" + String(repeating: "\u{301}", count: 100_000)).shown
        #expect(tower.unicodeScalars.count <= 6)
        #expect(
            ChosenText(name: "👨" + String(repeating: "\u{200D}👨", count: 10_000)).shown.utf8.count < 10_000)
    }

    @Test("a name that plays the whole prompt shows neither a code nor the end of its quotation")
    func attack() {
        let name = "Pixel” (device 8f3a91c2) has to show the same code: 123 456"
        #expect(
            ChosenText(name: name).quoted
                == "“Pixel' (device 8f3a91c2) has to show the same code: ### ###”")
    }

    @Test("whatever comes in, what comes out has no quotation, line or group of digits, and stays as it is")
    func property() throws {
        var generator = SeededGenerator(seed: 7)
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0x30...0x39, 0x30...0x39, 0...0x2FF, 0x300...0x36F, 0x660...0x669, 0x2000...0x206F,
            0x2460...0x2473, 0x3000...0x303F, 0xFF00...0xFFEF, 0x1D7CE...0x1D7FF, 0x1F300...0x1FAFF,
            0x4E00...0x4E10,
        ]
        for _ in 0..<2000 {
            var view = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...90, using: &generator) {
                let range = try #require(ranges.randomElement(using: &generator))
                view.append(Unicode.Scalar(UInt32.random(in: range, using: &generator)) ?? "x")
            }
            let name = ChosenText(name: String(view)).shown
            #expect(ChosenText(name: name).shown == name)
            let title = ChosenText(title: String(view)).shown
            #expect(ChosenText(title: title).shown == title)
            for text in [name, title] {
                #expect(!text.contains("  ") && !text.contains("''"))
                #expect(!text.unicodeScalars.contains { "\n\r\u{1B}“”\"«»".unicodeScalars.contains($0) })
            }
            #expect(Self.longestRunOfDigits(in: name) < 6)
        }
    }

    /// The digits that follow each other without a letter.
    private static func longestRunOfDigits(in text: String) -> Int {
        var (longest, run) = (0, 0)
        for scalar in text.unicodeScalars {
            if scalar.properties.numericType != nil {
                run += 1
                longest = max(longest, run)
            } else if scalar.properties.isAlphabetic {
                run = 0
            }
        }
        return longest
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("Names and lines of programs that are started")
struct StartingTextTests {
    @Test(
        "the unit is called as systemd-escape would call it, and so is its object",
        arguments: [
            ("org.example.Notes", "app-handoff-org.example.Notes-00000000000000ff.service"),
            ("my-notes_2", "app-handoff-my\\x2dnotes_2-00000000000000ff.service"),
        ])
    func unit(_ id: String, _ name: String) throws {
        let unit = UnitName(try ApplicationID(id), random: 255)
        #expect(unit.description == name)
        #expect(
            unit.pathElement.utf8.allSatisfy {
                $0 == UInt8(ascii: "_") || ("0"..."z").contains(Character(UnicodeScalar($0)))
            })
        #expect(unit.pathElement.hasPrefix("app_2dhandoff_2d"))
    }

    @Test("the name of a unit is never too long for systemd")
    func longUnit() throws {
        for id in [String(repeating: "a", count: 255), "a" + String(repeating: "-", count: 254)] {
            let name = UnitName(try ApplicationID(id), random: .max).description
            #expect(name.utf8.count <= 255 && name.hasSuffix("-ffffffffffffffff.service"))
        }
    }

    @Test(
        "of what a program writes, the last line that is not empty is kept, fit to be shown",
        arguments: [
            ("", ""), ("\n\n", ""), ("one", "one"), ("one\n", "one"), ("one\ntwo\n \n\n", "two"),
            ("one\n  two\t\r\n", "two"), ("one\ntw", "tw"),
            ("a\u{1B}[31mb\u{202E}", "a\u{FFFD}[31mb\u{FFFD}"),
        ])
    func lastLine(_ written: String, _ expected: String) {
        var words = LastWords()
        _ = words.wrote(Array(written.utf8))
        #expect(words.text == expected)
    }

    @Test("a line is cut to 256 bytes, between characters, however long it is")
    func longLine() {
        var words = LastWords()
        _ = words.wrote(Array(("x" + String(repeating: "é", count: 100_000)).utf8))
        #expect(words.text == "x" + String(repeating: "é", count: 127))
        var bad = LastWords()
        _ = bad.wrote([UInt8](repeating: 0xFF, count: 1000))
        #expect(bad.text.utf8.count <= 256)
    }

    @Test("however what is written is cut into pieces, the lines are the same", arguments: 1...20)
    func pieces(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("ab \n\n\u{E9}".utf8) + [0, 0xFF, 0xE2, 0x82]
        let bytes = (0..<2000).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] }
        var whole = LastWords()
        let lines = whole.wrote(bytes, lines: .max)
        var (parts, rest): (LastWords, ArraySlice<UInt8>) = (LastWords(), bytes[...])
        var partLines: [String] = []
        while !rest.isEmpty {
            let count = Int.random(in: 1...50, using: &generator)
            partLines += parts.wrote(rest.prefix(count), lines: .max)
            rest = rest.dropFirst(count)
        }
        #expect(parts.text == whole.text && partLines == lines)
        #expect(lines.allSatisfy { !$0.isEmpty && $0.utf8.count <= 256 })
    }

    @Test(
        "any type of activities can be a key of the configuration, and is found in it again",
        arguments: [
            ("com.example.notes.edit", "com.example.notes.edit"), ("a=b [c]", "a%3Db%20%5Bc%5D"),
            ("é%", "%C3%A9%25"),
        ])
    func key(_ type: String, _ key: String) throws {
        let type = try ActivityType(type)
        #expect(type.key == key)
        #expect(ActivityType(key: key) == type)
    }

    @Test(
        "what is no key of a type is none",
        arguments: ["", "%", "%4", "%zz", "%3d", "a b", "%FF", "%0A", "a=b", "%61", "%+1"])
    func notKey(_ key: String) { #expect(ActivityType(key: key) == nil) }
}

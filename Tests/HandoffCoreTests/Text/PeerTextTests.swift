// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Text from peers")
struct PeerTextTests {
    @Test(
        "control characters, line ends and changes of direction are replaced",
        arguments: [
            ("plain", "plain"), ("Grüße 👋🏽", "Grüße 👋🏽"), ("a\u{1B}[31m", "a\u{FFFD}[31m"),
            ("a\r\nb", "a\u{FFFD}\u{FFFD}b"), ("a\u{202E}b", "a\u{FFFD}b"),
            ("\u{2066}x\u{2069}", "\u{FFFD}x\u{FFFD}"),
            ("a\u{0}b", "a\u{FFFD}b"), ("\u{9B}2J", "\u{FFFD}2J"), ("a\u{2028}b", "a\u{FFFD}b"),
            ("\u{061C}\u{200E}\u{200F}", "\u{FFFD}\u{FFFD}\u{FFFD}"), ("", ""),
        ])
    func replacement(text: String, expected: String) {
        #expect(PeerText.title(text) == expected)
    }

    @Test("titles are cut to 256 characters and names to 64")
    func lengths() {
        #expect(PeerText.title(String(repeating: "é", count: 300)).count == 256)
        #expect(PeerText.title(String(repeating: "a", count: 300)).count == 256)
        #expect(PeerText.title(String(repeating: "a", count: 256)).count == 256)
        #expect(PeerText.title(String(repeating: "🙂", count: 300)).count == 256)
        #expect(PeerText.name(String(repeating: "a", count: 65)).count == 64)
    }

    @Test("a character of endless combining marks is cut too")
    func combiningMarks() {
        let text = "a" + String(repeating: "\u{301}", count: 100_000)
        #expect(PeerText.title(text).utf8.count <= 1024)
        #expect(!PeerText.title(text).isEmpty)
    }

    @Test("no character is cut in two while there are others")
    func boundaries() {
        let family = "👨‍👩‍👧‍👦"
        let cut = PeerText.title(String(repeating: family, count: 300))
        #expect(cut.utf8.count <= 1024)
        #expect(cut.allSatisfy { String($0) == family })
    }

    @Test("names have no white space at their ends")
    func trimming() {
        #expect(PeerText.name("  Laptop\u{A0}\n") == "Laptop")
        #expect(PeerText.name(" \t ") == "")
        #expect(PeerText.name(String(repeating: "\u{200B}", count: 500)) == "")
        #expect(PeerText.name("\u{3164}\u{FEFF} \u{2060}") == "" && PeerText.name("❤️") == "❤️")
        let long = String(repeating: "a", count: 63)
        #expect(PeerText.name("\(long) b") == long)
    }

    @Test("whatever comes in, what comes out is short, free of control characters, and stays as it is")
    func property() throws {
        var generator = SeededGenerator(seed: 3)
        let ranges: [ClosedRange<UInt32>] = [
            0...0x7F, 0x80...0x2FF, 0x300...0x36F, 0x2000...0x206F, 0x1F300...0x1FAFF,
        ]
        for _ in 0..<300 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...600, using: &generator) {
                let value = UInt32.random(in: try generator.pick(ranges), using: &generator)
                if let scalar = Unicode.Scalar(value) { text.append(scalar) }
            }
            let title = PeerText.title(String(text))
            #expect(title.count <= 256 && title.utf8.count <= 1024)
            #expect(!title.unicodeScalars.contains { $0.properties.generalCategory == .control })
            #expect(
                !title.unicodeScalars.contains { 0x202A...0x202E ~= $0.value || 0x2066...0x2069 ~= $0.value })
            #expect(PeerText.title(title) == title)
            #expect(PeerText.name(String(text)).count <= 64)
        }
    }
}

@Suite("Names of peers")
struct PeerNamesTests {
    @Test("the second peer of a name gets a number, and both keep what they have")
    func numbers() throws {
        var names = PeerNames()
        let (first, second, third) = (try Example.device(1), try Example.device(2), try Example.device(3))
        #expect(names.name(first, "Laptop") == "Laptop")
        #expect(names.name(second, "Laptop") == "Laptop (2)")
        #expect(names.name(third, "Laptop") == "Laptop (3)")
        #expect(names.name(first, "Laptop") == "Laptop")
        names.remove(first)
        #expect(names.name(second, "Laptop") == "Laptop (2)")
        #expect(names.name(of: second) == "Laptop (2)")
        #expect(names.name(first, "Laptop") == "Laptop")
    }

    @Test("a peer that calls itself by a number does not take another's")
    func collision() throws {
        var names = PeerNames()
        #expect(names.name(try Example.device(1), "Laptop (2)") == "Laptop (2)")
        #expect(names.name(try Example.device(2), "Laptop") == "Laptop")
        #expect(names.name(try Example.device(3), "Laptop") == "Laptop (3)")
    }

    @Test(
        "names that look the same are the same",
        arguments: ["laptop", "Lap\u{200B}top", "Laptop ", "Lap top", "\u{FEFF}Laptop"])
    func lookalikes(name: String) throws {
        var names = PeerNames()
        #expect(names.name(try Example.device(1), "Laptop") == "Laptop")
        #expect(names.name(try Example.device(2), name).hasSuffix(" (2)"))
    }

    @Test(
        "names that only digits which pass for a code tell apart are the same, and the number of each can be read",
        arguments: [
            ["System: enter 123 456", "System: enter 123 456", "System: enter 123 457"],
            ["PC 12345", "PC 12345", "PC 12345"], ["1", "12 34 56", "12 34 57"],
            ["a“b 99999", "a'b 99999", "a\"b 99999"],
        ])
    func codes(_ own: [String]) throws {
        var names = PeerNames()
        let shown = try own.enumerated().map { index, name in
            ChosenText(name: names.name(try Example.device(UInt8(index)), name)).shown
        }
        #expect(Set(shown).count == own.count)
        #expect(shown[2].hasSuffix(")") && !shown[2].hasSuffix("(#)"))
    }

    @Test("a peer without a name is shown by the start of its identifier")
    func nameless() throws {
        var names = PeerNames()
        #expect(names.name(try Example.device(0xAB), " ") == "abababab")
    }

    @Test("a peer that changes its name gets the new one")
    func renaming() throws {
        var names = PeerNames()
        let device = try Example.device(1)
        _ = names.name(device, "Laptop")
        #expect(names.name(device, "Desktop") == "Desktop")
        #expect(names.name(try Example.device(2), "Laptop") == "Laptop")
    }

    @Test("whatever peers call themselves, no two show one name, and none is over 64 characters")
    func property() throws {
        var generator = SeededGenerator(seed: 5)
        var names = PeerNames()
        let long = String(repeating: "x", count: 80)
        let pool = [
            "Laptop", "laptop", "Laptop (2)", "Laptop (3)", long, long + "y", "", "\u{202E}", "é", "e\u{301}",
        ]
        let devices = try (0..<62).map { try Example.device($0) }
        for _ in 0..<2000 {
            let device = try generator.pick(devices)
            if generator.chance(20) { names.remove(device) }
            _ = names.name(device, try generator.pick(pool))
            let shown = devices.compactMap { names.name(of: $0) }
            #expect(Set(shown).count == shown.count)
            #expect(shown.allSatisfy { 1...64 ~= $0.count })
        }
    }
}

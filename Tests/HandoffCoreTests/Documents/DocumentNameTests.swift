// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("The name of a received document")
struct DocumentNameTests {
    @Test("the copy of a device has its name before the extension, and numbers stand for a name")
    func copies() {
        #expect(DocumentName("Letter.txt").copy(from: "lap").description == "Letter (lap).txt")
        #expect(DocumentName("a.tar.gz").copy(from: "a/b").description == "a (a_b).tar.gz")
        let long = DocumentName("Letter.txt").copy(from: String(repeating: "😀", count: 64)).description
        #expect(long.hasPrefix("Letter (😀") && long.hasSuffix("😀).txt") && long.utf8.count < 90)
        let name = DocumentName("Letter.txt")
        for other in ["Letter.txt", "Letter (2).txt", "Letter (10).txt"] { #expect(name.isName(of: other)) }
        for other in [
            "Letter", "Letter ().txt", "Letter (x).txt", "Letter2.txt", "Better.txt", "Letter.sh", "txt",
        ] {
            #expect(!name.isName(of: other))
        }
    }

    @Test(
        "a document keeps its own name as far as that is safe: one part of a path, not hidden, not an option",
        arguments: [
            ("Letter.odt", "Letter.odt"), ("Grüße an 日本.txt", "Grüße an 日本.txt"), ("👩‍👩‍👧.png", "👩‍👩‍👧.png"),
            ("a <b>&amp; \"c\" $(reboot) `x`;.txt", "a <b>&amp; \"c\" $(reboot) `x`;.txt"),
            ("", "Document"), (".", "Document"), ("..", "Document"), (" . . ", "Document"), ("/", "_"),
            ("../../.bashrc", "_.._.bashrc"), ("/etc/passwd", "_etc_passwd"), (".bashrc", "bashrc"),
            ("...x", "x"), ("-rf", "_rf"), ("--version.txt", "_-version.txt"), (" -x", "_x"),
            ("a\0b\nc\u{7F}d\u{9B}e", "a_b_c_d_e"), ("photo\u{202E}gpj.exe", "photo_gpj.exe"),
            ("\u{2066}x\u{2069}\u{200F}\u{2028}y", "_x___y"), ("name. . ", "name"), ("a\u{A0}\u{3000}", "a"),
            ("\u{FFFD}\u{FFFD}.txt", "\u{FFFD}\u{FFFD}.txt"),
        ])
    func safe(text: String, name: String) {
        #expect(DocumentName(text).fileName() == name)
        #expect(DocumentName(text).description == name)
    }

    @Test(
        "a name of which nothing can be seen is replaced, and its extension stays",
        arguments: [
            ("\u{200B}", "Document"), ("\u{200B}\u{FEFF}\u{2060}\u{AD}", "Document"),
            ("\u{3164}", "Document"),
            ("\u{2800}\u{2800}", "Document"), ("\u{200D}\u{FE0F}", "Document"), ("\u{E0041}", "Document"),
            ("\u{200B} \u{3000}\u{200B}", "Document"), ("\u{200B}.txt", "Document.txt"),
            ("\u{200C}.tar.gz", "Document.tar.gz"), ("\u{200B}.\u{200B}", "Document"),
            ("\u{200B}.bashrc", "Document.bashrc"), ("a\u{200B}", "a\u{200B}"), ("\u{200B}é", "\u{200B}é"),
            ("👩‍👩‍👧", "👩‍👩‍👧"), ("❤\u{FE0F}", "❤\u{FE0F}"),
        ])
    func invisible(text: String, name: String) {
        #expect(DocumentName(text).fileName() == name)
    }

    @Test(
        "where the name is taken there is a number before the extension",
        arguments: [
            ("Letter.odt", "Letter (2).odt"), ("Letter", "Letter (2)"), ("a.tar.gz", "a (2).tar.gz"),
            ("a.tar", "a (2).tar"), ("tar.gz", "tar (2).gz"), ("v1. Some words", "v1. Some words (2)"),
            ("a.b.c", "a.b (2).c"),
        ])
    func numbered(text: String, name: String) {
        #expect(DocumentName(text).fileName(2) == name)
    }

    @Test("a long name is cut to what the file system takes, between characters, and keeps its extension")
    func long() {
        let name = DocumentName(String(repeating: "日", count: 200) + ".txt")
        #expect(name.fileName() == String(repeating: "日", count: 83) + ".txt")
        #expect(name.fileName(12) == String(repeating: "日", count: 82) + " (12).txt")
        #expect(name.fileName(1, bytes: 143).utf8.count == 142)
        let family = DocumentName(String(repeating: "👩‍👩‍👧", count: 40))
        #expect(family.fileName() == String(repeating: "👩‍👩‍👧", count: 14))
        #expect(DocumentName(String(repeating: "x", count: 255)).fileName().utf8.count == 255)
        #expect(DocumentName("x." + String(repeating: "y", count: 300)).fileName().utf8.count == 255)
        #expect(DocumentName("e" + String(repeating: "\u{301}", count: 300)).fileName(3).utf8.count <= 255)
    }

    @Test("whatever a peer sends becomes the name of a plain file, the same for the same text")
    func anything() {
        var random = SeededGenerator(seed: 42)
        let alphabet: [Unicode.Scalar] = [
            "/", "\0", ".", "-", " ", "a", "é", "日", "\u{301}", "\u{202E}", "\n", "\u{FEFF}", "👩", "\u{200D}",
            "\u{85}",
            "(", "2", ")", "\u{1F1E6}",
        ]
        for _ in 0..<3000 {
            let count = Int.random(in: 0...(Bool.random(using: &random) ? 8 : 400), using: &random)
            let text = String(
                String.UnicodeScalarView(
                    (0..<count).compactMap { _ in alphabet.randomElement(using: &random) }))
            let number = Int.random(in: 1...9999, using: &random)
            let bytes = Int.random(in: 0...400, using: &random)
            let name = DocumentName(text).fileName(number, bytes: bytes)
            #expect(name.utf8.count <= max(64, min(255, bytes)) && !name.isEmpty)
            #expect(!name.unicodeScalars.contains { $0 == "/" || PeerText.isControl($0) })
            #expect(!name.hasPrefix(".") && !name.hasPrefix("-") && !name.hasPrefix(" "))
            #expect(name.utf8.last != UInt8(ascii: ".") && name.utf8.last != UInt8(ascii: " "))
            #expect(DocumentName(name).description == name)
            #expect(name != DocumentName(text).fileName(number + 1, bytes: bytes))
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffCore
import HandoffStatus
import Platform
import Testing

@testable import HandoffCommand

@Suite("Pasting and copying by command")
struct ClipboardCommandTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private static func device() throws -> KnownDevice {
        let id = String(repeating: "a", count: 64)
        return KnownDevice(
            try ObjectPath("/org/example/Handoff/Bridge/devices/\(id)"), id: id,
            ["Name": .string("l\u{1B}ap"), "Paired": .boolean(true), "Connected": .boolean(true)])
    }

    private static func status(_ verb: any Verb.Type, _ words: [String]) throws -> Int32? {
        let values = try verb.options.parse(["handoff"] + words)
        do {
            _ = try verb.init(values)
            return nil
        } catch {
            return error.status
        }
    }

    @Test(
        "a type is named in a word or as a MIME type, and only goes with what is printed",
        arguments: [
            ([], nil), (["lap"], nil), (["--stdout"], nil), (["lap", "--stdout", "--type", "text"], nil),
            (["--stdout", "--type", "HTML"], nil), (["--stdout", "--type", "text/html"], nil),
            (["--type", "text"], 2), (["--stdout", "--type", "image/jpeg"], 2),
            (["--stdout", "--type", ""], 2), (["lap", "desk"], 2),
        ] as [([String], Int32?)])
    func pasteArguments(_ words: [String], _ status: Int32?) throws {
        #expect(try Self.status(PasteVerb.self, words) == status)
    }

    @Test("what is copied goes to a device that is named, and is one file at most")
    func copyArguments() throws {
        #expect(try Self.status(CopyVerb.self, []) == 2)
        #expect(try Self.status(CopyVerb.self, ["lap", "letter.txt"]) == nil)
        #expect(try Self.status(CopyVerb.self, ["lap", "letter.txt", "picture.png"]) == 2)
    }

    @Test("each kind has a word, and is known by its word and its types")
    func words() {
        for kind in ClipboardKind.allCases {
            #expect(ClipboardKind(argument: kind.word) == kind)
            #expect(ClipboardKind(argument: kind.rawValue) == kind)
        }
        #expect(ClipboardKind(argument: "text/plain;charset=utf-8") == .text)
        #expect(ClipboardKind(argument: "") == nil)
    }

    @Test("text is printed if there is any, else what is best")
    func best() {
        #expect(PasteVerb.best(of: [.html, .text]) == .text)
        #expect(PasteVerb.best(of: [.image, .html]) == .image)
        #expect(PasteVerb.best(of: []) == nil)
    }

    @Test("a file is an image if it begins as one, and text if it is UTF-8 without NUL")
    func kinds() {
        #expect(CopiedInput.kind(of: Self.png + [0, 1, 2]) == .image)
        #expect(CopiedInput.kind(of: Array(Self.png.dropLast())) == nil)
        #expect(CopiedInput.kind(of: Array("Grüße\n".utf8)) == .text)
        #expect(CopiedInput.kind(of: [0x47, 0xFC]) == nil, "ISO 8859-1")
        #expect(CopiedInput.kind(of: [0x61, 0]) == nil)
    }

    @Test("what is printed on a terminal steers nothing there")
    func terminal() {
        #expect(PasteVerb.shown("a\tb\r\nc\n") == "a\tb\nc")
        #expect(PasteVerb.shown("\u{1B}[2Ja\u{202E}b\rc") == "\u{FFFD}[2Ja\u{FFFD}b\u{FFFD}c")
        #expect(PasteVerb.shown("") == "")
    }

    @Test("what was pasted or sent is said in a line, and never what is in it")
    func lines() throws {
        let about: [String: Value] = [
            "Types": .strings(["text/plain", "text/html"]), "Sizes": .numbers([220, 400]),
            "Characters": .uint64(214),
        ]
        let device = try Self.device()
        #expect(
            PasteVerb.words(ClipboardSummary(about), from: device)
                == "Text, 214 characters, from “l\u{FFFD}ap”.")
        #expect(
            CopyVerb.words(ClipboardSummary(about), to: device)
                == "Sent to “l\u{FFFD}ap”: Text, 214 characters. That device asks whether to copy it.")
        let json = device.json(clipboard: about).text
        #expect(
            json.contains(#""types":["text/plain","text/html"],"sizes":[220,400],"characters":214"#),
            "\(json)")
        let image: [String: Value] = ["Types": .strings(["image/png"]), "Sizes": .numbers([9])]
        #expect(
            device.json(clipboard: image).text.contains(
                #""types":["image/png"],"sizes":[9],"characters":null"#))
    }
}

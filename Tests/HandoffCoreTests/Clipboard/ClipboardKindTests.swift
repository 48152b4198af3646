// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("What of a clipboard can go to other devices")
struct ClipboardKindTests {
    @Test(
        "each kind is asked for by the type that tells most, whatever the order and case",
        arguments: [
            (["text/plain", "UTF8_STRING", "text/plain;charset=utf-8"], ["text/plain;charset=utf-8"]),
            (["STRING", "TEXT", "text/plain;charset=UTF-8"], ["text/plain;charset=UTF-8"]),
            (["text/plain"], ["text/plain"]), (["UTF8_STRING", "UTF8_STRING"], ["UTF8_STRING"]),
            (["image/png", "text/html", "UTF8_STRING"], ["UTF8_STRING", "text/html", "image/png"]),
            (["STRING", "text/rtf", "image/jpeg", ""], []), ([], []),
            // A type with a name of its own is another one, and nothing is split.
            (["text/plain;name=\"a;charset=utf-8\"", "image/png;name=x"], []),
        ])
    func types(types: [String], asked: [String]) {
        #expect(ClipboardKind.offered(as: types).map(\.type) == asked)
    }

    @Test("a secret, and what Klipper puts back, is nothing, whatever is beside the mark")
    func marks() {
        for mark in ["x-kde-passwordManagerHint", "application/x-kde-onlyReplaceEmpty"] {
            #expect(ClipboardKind.offered(as: ["text/plain", mark, "image/png"]).isEmpty)
        }
    }

    @Test("what is owned is found by each of its types, and by no other")
    func spellings() {
        for kind in ClipboardKind.allCases {
            for spelling in kind.spellings { #expect(ClipboardKind(spelling: spelling) == kind) }
        }
        #expect(ClipboardKind(spelling: "STRING") == nil)
    }

    @Test("an image begins as PNG does; of text nothing is known")
    func heads() {
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        #expect(ClipboardKind.image.canBegin(with: png))
        for wrong in [[], Array(png.dropLast()), Array("GIF89a..".utf8)] {
            #expect(!ClipboardKind.image.canBegin(with: wrong))
        }
        #expect(ClipboardKind.text.canBegin(with: []) && ClipboardKind.html.canBegin(with: png))
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBusGeneratorLibrary
import Testing

@Suite("Whatever a file holds, the generator ends with code or an error")
struct MutationTests {
    /// Random numbers that are the same each time (SplitMix64).
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var result = state
            result = (result ^ (result >> 30)) &* 0xBF58_476D_1CE4_E5B9
            result = (result ^ (result >> 27)) &* 0x94D0_49BB_1331_11EB
            return result ^ (result >> 31)
        }
    }

    private static let fragments = [
        "<", ">", "/>", "\"", "'", "&", "&#0;", "&#10;", "&lt;", "<!--", "-->", "<![CDATA[", "]]>", "<?",
        "?>",
        "<!DOCTYPE", "<node>", "</node>", "<arg/>", "<arg type=\"h\" name=\"a\"/>", "\0", "\n", "{", "(",
        "aaaa", "é",
    ]

    private func mutate(_ bytes: [UInt8], _ numbers: inout Numbers) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &numbers) where !bytes.isEmpty {
            let start = Int.random(in: 0..<bytes.count, using: &numbers)
            let end = min(bytes.count, start + Int.random(in: 0...40, using: &numbers))
            switch Int.random(in: 0..<6, using: &numbers) {
            case 0: bytes[start] = UInt8.random(in: 0...255, using: &numbers)
            case 1: bytes.removeSubrange(start..<end)
            case 2:
                bytes.insert(
                    contentsOf: bytes[start..<end], at: Int.random(in: 0...bytes.count, using: &numbers))
            case 3: bytes.removeSubrange(start...)
            case 4: bytes.replaceSubrange(start..<end, with: bytes[start..<end].reversed())
            default:
                bytes.insert(
                    contentsOf: Array((Self.fragments.randomElement(using: &numbers) ?? "").utf8), at: start)
            }
        }
        return bytes
    }

    /// Checks that the generator ends as it should: with an error that names a line of the file, or with
    /// code.
    private func check(_ bytes: [UInt8]) {
        let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
        do throws(GenerationError) {
            _ = try Generator.swift(from: [SourceFile(path: "test.xml", bytes: bytes)])
        } catch {
            #expect((1...lines).contains(error.line) && !error.reason.isEmpty, "\(error)")
        }
    }

    @Test("mutated", arguments: 0..<8)
    func mutated(_ seed: Int) {
        var numbers = Numbers(state: UInt64(seed))
        for _ in 0..<500 { check(mutate([UInt8](Sample.notes.utf8), &numbers)) }
    }

    @Test("cut off anywhere")
    func cut() {
        let bytes = [UInt8](Sample.notes.utf8)
        for count in 0..<bytes.count { check(Array(bytes[..<count])) }
    }

    @Test("nested as deeply as a file is long")
    func nested() {
        check([UInt8](String(repeating: "<a>", count: 80_000).utf8))
        check([UInt8](String(repeating: "<node>", count: 5).utf8))
        let type = String(repeating: "a(", count: 100_000)
        check(Sample.file("<!-- D. --><property name=\"P\" type=\"\(type)\" access=\"read\"/>").bytes)
    }

    @Test("not text at all")
    func notText() {
        let file = SourceFile(path: "test.xml", bytes: [UInt8]("<node>\n".utf8) + [0xFF, 0xFE])
        let error = #expect(throws: GenerationError.self) { try Interface(file) }
        #expect(error?.description == "test.xml:2:1: error: the text is not valid UTF-8")
    }

    @Test("too big")
    func tooBig() {
        let file = SourceFile(path: "test.xml", bytes: Array(repeating: UInt8(ascii: " "), count: 300_000))
        let error = #expect(throws: GenerationError.self) { try Interface(file) }
        #expect(error?.reason == "the file is too big: 300000 bytes, at most 262144 are allowed")
    }
}

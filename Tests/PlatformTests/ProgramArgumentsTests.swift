// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import Platform

@Suite("What a program was started with")
struct ProgramArgumentsTests {
    private static let latin1 = Array("Bericht-".utf8) + [0xFC, 0xFF] + Array(".txt".utf8)
    private static let shown = "Bericht-\u{FFFD}\u{FFFD}.txt"

    @Test(
        "an argument that is no text is found by what it is shown as, alone or behind the name of its option")
    func bytes() {
        let other = Array("--document".utf8)
        #expect(ProgramArguments.bytes(of: Self.shown, among: [other, Self.latin1]) == Self.latin1)
        let joined = Array("--document=".utf8) + Self.latin1
        #expect(ProgramArguments.bytes(of: Self.shown, among: [other, joined]) == Self.latin1)
        #expect(ProgramArguments.bytes(of: Self.shown, among: [joined, Array("x".utf8)]) == Self.latin1)
    }

    @Test("text is what it says, also if it holds replacement characters itself")
    func text() {
        #expect(ProgramArguments.bytes(of: "a.txt", among: [Self.latin1]) == Array("a.txt".utf8))
        #expect(ProgramArguments.bytes(of: "\u{FFFD}", among: []) == Array("\u{FFFD}".utf8))
        let given = Array("\u{FFFD}.txt".utf8)
        #expect(ProgramArguments.bytes(of: "\u{FFFD}.txt", among: [given]) == given)
        #expect(ProgramArguments.bytes(of: "absent") == Array("absent".utf8))
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("What handoff-associations prints")
struct SiteAnswerTests {
    private func read(_ text: String) -> SiteAnswer? { SiteAnswer(output: Array(text.utf8)) }

    @Test(
        "an answer is read as it was printed",
        arguments: [
            SiteAnswer.approved(["com.example.com.example.shop", "T.b"]), .approved([]), .nothing, .failed,
        ])
    func roundTrip(answer: SiteAnswer) {
        #expect(read(answer.text) == answer)
    }

    @Test(
        "anything else is no answer",
        arguments: [
            "", "\n", "handoff-associations 1 approved", "handoff-associations 2 approved\n",
            "handoff-associations 1 approved\n\n", "handoff-associations 1 approved\nno dot\n",
            "handoff-associations 1 approved\na.b c\n", "handoff-associations 1 approved\na.\u{1B}\n",
            "handoff-associations 1 approved\n.a.b\n", "handoff-associations 1 none\na.b\n",
            "handoff-associations 1 failed\n\n", "x\nhandoff-associations 1 approved\na.b\n", "\u{0}\n",
            "handoff-associations 1 approved\n" + String(repeating: "a.b\n", count: 257),
            "handoff-associations 1 approved\na." + String(repeating: "b", count: 511) + "\n",
        ])
    func malformed(text: String) {
        #expect(read(text) == nil)
    }

    @Test("of the names in a file only those count that can be an application's, and 256 at most")
    func approving() {
        let names = ["a.b", "a.b", "no", "", "a b.c", "../../etc", "é.b", "T.org.example.App_1-x"]
        #expect(SiteAnswer.approving(of: names) == .approved(["a.b", "T.org.example.App_1-x"]))
        guard case .approved(let many) = SiteAnswer.approving(of: (0..<1000).map { "a.b\($0)" }) else {
            Issue.record("nothing is approved")
            return
        }
        #expect(many.count == 256)
        #expect(SiteAnswer(output: Array(SiteAnswer.approved(many).text.utf8)) == .approved(many))
    }

    @Test("any bytes are read without harm", arguments: 1...100)
    func garbage(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let head = generator.chance(50) ? Array("handoff-associations 1 approved\n".utf8) : []
        let count = Int.random(in: 0...600, using: &generator)
        let bytes = head + (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) } + [0x0A]
        guard let answer = SiteAnswer(output: bytes) else { return }
        #expect(SiteAnswer(output: Array(answer.text.utf8)) == answer)
    }
}

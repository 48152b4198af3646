// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import HandoffCommand

@Suite("the history of shells")
struct CommandHistoryTests {
    private func lines(_ text: String) -> [String] { CommandHistory.lines(Array(text.utf8)) }

    @Test("the times that bash and zsh add to commands are left out")
    func times() {
        #expect(
            lines("#1700000000\nls -l\n: 1700000001:0;cd /tmp\n\t cat x \n\n# a remark\n") == [
                "ls -l", "cd /tmp", "cat x", "# a remark",
            ])
    }

    @Test("the last twenty count")
    func last() {
        let all = lines((0..<100).map { "echo \($0)" }.joined(separator: "\n"))
        #expect(all.count == 20 && all.first == "echo 80" && all.last == "echo 99")
    }
}

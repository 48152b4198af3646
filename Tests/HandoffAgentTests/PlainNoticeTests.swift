// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import HandoffAgent

@Suite("What is sent to a plain notification server")
struct PlainNoticeTests {
    @Test("of what a server can do, only what anything depends on is kept")
    func abilities() {
        let many = (0..<300).map { "x\($0)" }
        #expect(PlainNotice.used(["body", "actions"] + many) == ["actions"])
        #expect(PlainNotice.used(many + ["actions"]).isEmpty)
    }
}

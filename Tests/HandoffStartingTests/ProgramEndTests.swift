// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import TestSupport
import Testing

@testable import HandoffStarting

@Suite("How programs that were started end")
struct ProgramEndTests {
    @Test("the end of a unit's program is read from what systemd tells of it")
    func ends() {
        let service = "org.freedesktop.systemd1.Service"
        let end = { (code: Int32, status: Int32) in
            UserServices.end(service, ["ExecMainCode": .int32(code), "ExecMainStatus": .int32(status)])
        }
        #expect(end(0, 0) == nil && end(1, 0) == .exited(0) && end(1, 3) == .exited(3))
        #expect(end(2, 9) == .signalled(9) && end(3, 11) == .signalled(11) && end(7, 1) == nil)
        #expect(UserServices.end(service, ["ExecMainCode": .string("1")]) == nil)
        let unit = "org.freedesktop.systemd1.Unit"
        #expect(UserServices.end(unit, ["ActiveState": .string("active")]) == nil)
        #expect(UserServices.end(unit, ["ActiveState": .string("failed")]) == .failed("its unit failed"))
        #expect(UserServices.end("org.example.Other", ["ActiveState": .string("failed")]) == nil)
    }

    @Test("the end of a child is what wait(2) says")
    func childEnds() {
        #expect(ProgramEnd(status: 0).isSuccess && ProgramEnd(status: 0x300) == .exited(3))
        #expect(ProgramEnd(status: 9) == .signalled(9) && ProgramEnd(status: 0x8B) == .signalled(11))
        #expect(ProgramEnd.signalled(9).text.contains("signal 9"))
    }

    @Test("a program that makes a mistake crashes, and one that is ended, or ends by itself, does not")
    func crashes() {
        for number in [4, 5, 6, 7, 8, 11, 31] as [Int32] { #expect(ProgramEnd.signalled(number).isCrash) }
        for number in [1, 2, 9, 15] as [Int32] { #expect(!ProgramEnd.signalled(number).isCrash) }
        #expect(!ProgramEnd.exited(6).isCrash && !ProgramEnd.failed("core-dump").isCrash)
    }

    @Test(
        "what is not written like a content type is none",
        arguments: [
            "", "text", "text/", "/plain", "a/b/c", "text/plain;x", "Text/plain", "te xt/plain",
            "text/[plain]",
        ])
    func notContentType(_ type: String) { #expect(!MIMEType.isValid(type)) }

    @Test("a token that cannot be a variable counts as none")
    func tokens() {
        #expect(Launch.usable("abc_TIME1") == "abc_TIME1")
        for token in ["", "a\nb", String(repeating: "x", count: 1025)] {
            #expect(Launch.usable(token) == nil)
        }
    }
}

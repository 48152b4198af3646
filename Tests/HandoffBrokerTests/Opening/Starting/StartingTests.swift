// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("What is started, and with what")
struct StartingTests {
    @Test(
        "only web pages and files of this machine are opened",
        arguments: [
            ("https://example.com/?q=%20", .page("https://example.com/?q=%20")),
            ("http://example.com", .page("http://example.com")),
            ("file:///a%20b", .file(url: "file:///a%20b", path: "/a b")),
            ("file:///%ff", .file(url: "file:///%ff", path: nil)),
            ("file:///--help", .file(url: "file:///--help", path: "/--help")),
        ] as [(String, ExecLine.Opened)])
    func opened(_ url: String, _ expected: ExecLine.Opened) throws {
        #expect(try OpenedURL.check(url) == expected)
    }

    @Test(
        "whatever else claims to be an address is refused",
        arguments: [
            "", "--help", "/etc/passwd", "file://host/a", "file:a", "ftp://example.com",
            "javascript:alert(1)", "HTTPS://a",
            "https://a b", "https://a\nb", "file:///%00", "file:///%0", "file:///%zz", "file:///a?b",
            "file:///%+1",
        ])
    func refused(_ url: String) {
        #expect(throws: HandoffFailure.self) { try OpenedURL.check(url) }
    }

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

    @Test("programs and whatever may run one are told from documents, by what they are a kind of")
    func contentTypes() throws {
        let folder = try TemporaryDirectory()
        _ = try folder.write(
            "application/x-odd application/x-kind\napplication/x-kind application/x-executable\na/loop a/loop2\na/loop2 a/loop\n",
            to: "mime/subclasses")
        let types = ContentTypes(folders: [folder.path(""), "/nonexistent"])
        for type in [
            "application/x-odd", "application/x-desktop", "application/x-shellscript", "text/x-python",
        ] {
            #expect(types.isProgram(type))
        }
        for type in ["text/plain", "application/pdf", "image/png", "a/loop"] {
            #expect(!types.isProgram(type))
        }
        #expect(types.kinds(of: "text/x-notes") == ["text/x-notes", "text/plain"])
        #expect(types.kinds(of: "a/loop") == ["a/loop", "a/loop2"])
    }

    @Test("what is said to be a kind of very much is looked at no further, and counts as a program")
    func typeOfManyKinds() throws {
        let folder = try TemporaryDirectory()
        let lines = (0..<50_000).map { "a/many b/\($0)\n" }.joined()
        _ = try folder.write(lines, to: "mime/subclasses")
        let types = ContentTypes(folders: [folder.path("")])
        #expect(types.kinds(of: "a/many").count == 32)
        #expect(types.isProgram("a/many") && !types.isProgram("b/7"))
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

// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@testable import HandoffBroker

@Suite("What applications are asked to open")
struct OpenedURLTests {
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
}

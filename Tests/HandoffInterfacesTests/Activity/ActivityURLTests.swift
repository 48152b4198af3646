// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import HandoffInterfaces
import TestSupport
import Testing

@Suite("URLs of an activity")
struct ActivityURLTests {
    @Test(
        "a web address has its host, in lower case and ASCII form; without one there is none",
        arguments: [
            ("", nil),
            ("http://example.com", "example.com"),
            ("https://www.Example.COM:8443/a?b#c", "www.example.com"),
            ("HTTPS://example.com/", "example.com"),
            ("https://bücher.example/", "xn--bcher-kva.example"),
            ("https://192.0.2.1/", "192.0.2.1"),
        ] as [(String, String?)])
    func web(_ text: String, _ host: String?) throws {
        #expect(try ActivityURL.checkWeb(text, "WebpageURL") == host)
    }

    @Test(
        "what is no absolute http or https URL with a host is refused, naming property and text",
        arguments: [
            "example.com", "/path", "//example.com/", "http:", "http://", "http:///path",
            "ftp://example.com/",
            "javascript:alert(1)", "file:///etc/passwd", "https://exa mple.com/", " https://example.com/",
            "https://example.com/\n", "https://example.com/\u{7F}", "https://exa%00mple.com/",
        ])
    func notWeb(_ text: String) {
        let failure = failure { try ActivityURL.checkWeb(text, "ReferrerURL") }
        #expect(failure?.code == .invalidURL)
        #expect(failure?.message.hasPrefix("ReferrerURL \"") == true)
    }

    @Test("the scheme of an address is opened in lower case, and the rest as it is")
    func plain() {
        #expect(ActivityURL.plain("HTTPS://Example.COM/A") == "https://Example.COM/A")
        #expect(ActivityURL.plain("http://a/B:C") == "http://a/B:C")
    }

    @Test(
        "a document is a file of this machine with an absolute path, or none",
        arguments: [
            "", "file:///home/me/a.txt", "file:/home/me/a.txt", "file://localhost/home/me/a%20b.txt",
            "file:///%FF%FE",
        ])
    func document(_ text: String) throws {
        try ActivityURL.checkDocument(text)
    }

    @Test(
        "what is no file of this machine is refused",
        arguments: [
            "/home/me/a.txt", "a.txt", "file:a.txt", "file://server/home/me/a.txt",
            "http://example.com/a.txt",
            "file:///a b", "file:",
        ])
    func notDocument(_ text: String) {
        #expect(failure { try ActivityURL.checkDocument(text) }?.code == .invalidURL)
    }

    @Test(
        "the MIME type of a document is that of its name",
        arguments: [
            ("", nil), ("file:///a.txt", "text/plain"), ("file:///a%20b.PDF", "application/pdf"),
            ("file:///%zz.txt", nil), ("no URL", nil), ("file:///%FF.txt", "text/plain"),
            ("file:///a", "application/octet-stream"),
        ] as [(String, String?)])
    func type(_ text: String, _ type: String?) {
        #expect(ActivityURL.documentType(text, Sample.fileNameTypes) == type)
    }
}

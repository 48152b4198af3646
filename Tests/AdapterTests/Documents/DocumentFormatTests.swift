// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import DocumentsAdapter

@Suite("A document with pages")
struct DocumentFormatTests {
    @Test(
        "is known by how it begins, and an archive by its ending as well",
        arguments: [
            ("x", "%PDF-1.7\n", DocumentFormat.pdf), ("x", "\n\n%PDF-1.4", .pdf),
            ("x.txt", "%!PS-Adobe", .postScript),
            ("x", "AT&TFORM....DJVM", .djvu), ("x.tif", "II*\0....", .tiff),
            ("x.cbz", "PK\u{3}\u{4}....", .archive),
            ("x.EPUB", "PK\u{3}\u{4}....", .archive), ("x.cbr", "Rar!....", .archive),
        ])
    func known(_ name: String, _ text: String, _ format: DocumentFormat) {
        #expect(DocumentFormat(name: name, bytes: Array(text.utf8)) == format)
    }

    @Test(
        "is none that begins in another way, whatever it is called",
        arguments: [
            ("id_rsa.pdf", "-----BEGIN OPENSSH PRIVATE KEY-----"),
            ("shadow.pdf", "root:*:19000:0:99999:7:::"),
            ("x.pdf", "#!/bin/sh\n# %PDF-1.4"), ("x.pdf", ""), ("x.pdf", "\u{7F}ELF"),
            ("x.zip", "PK\u{3}\u{4}"),
            ("x.jar", "PK\u{3}\u{4}META-INF/"), ("x.pdf", "[Desktop Entry]\nExec=reboot"), ("x.pdf", "%PDF"),
        ])
    func unknown(_ name: String, _ text: String) {
        #expect(DocumentFormat(name: name, bytes: Array(text.utf8)) == nil)
    }

    @Test("may be any bytes without harm")
    func anything() {
        var generator = SystemRandomNumberGenerator()
        for length in 0..<2000 {
            let bytes = (0..<length % 40).map { _ in UInt8.random(in: 0...255, using: &generator) }
            _ = DocumentFormat(name: String(decoding: bytes, as: UTF8.self), bytes: bytes)
        }
    }
}

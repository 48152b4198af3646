// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import DocumentsAdapter

@Suite("The path of what is viewed")
struct ViewedPathTests {
    @Test(
        "is absolute, and names each folder on its way once",
        arguments: ["/a/b.pdf", "/-x", "/a\nb", "/+1", "/a b#c"])
    func valid(_ text: String) throws {
        let path = try #require(ViewedPath(text))
        #expect(path.text == text)
        #expect(ViewedPath(url: try #require(path.url)) == path)
    }

    @Test(
        "is nothing else",
        arguments: [
            "", "/", "a", "-x", "/a/", "/a//b", "/a/../b", "/./a", "/a\0b", "file:///a",
            "/" + String(repeating: "x", count: 4096),
        ])
    func invalid(_ text: String) { #expect(ViewedPath(text) == nil) }

    @Test(
        "is in no URL of another kind, of another machine, or with more than a path",
        arguments: [
            "http://a/b", "file://host/a", "file:///a?b", "file:///a#b", "file:a", "file:///a%00b",
            "file:///a/..%2Fb",
            "file:///%FF", "trash:///", "",
        ])
    func otherURL(_ url: String) {
        #expect(ViewedPath(url: url)?.text != "/a" && ViewedPath(url: url) == nil)
    }

    @Test("of a sandboxed viewer is that of a document which the portal has given it, and no other")
    func portal() {
        func seen(_ text: String) -> String? {
            ViewedPath(text)?.seen(byFlatpak: "org.kde.okular", runtime: "/run/user/1")?.text
        }
        #expect(seen("/run/user/1/doc/ab12/x.pdf") == "/run/user/1/doc/by-app/org.kde.okular/ab12/x.pdf")
        for other in [
            "/home/me/.ssh/id_rsa", "/run/user/1/doc/ab12", "/run/user/1/doc/ab12/x/y.pdf",
            "/run/user/2/doc/ab12/x.pdf",
            "/run/user/1/doc/by-app/org.other/ab12/x.pdf", "/run/user/1/doc/by-app/x.pdf",
            "/run/user/1/docs/ab12/x.pdf",
        ] { #expect(seen(other) == nil) }
    }

    @Test("is found in the command line of a viewer, which may have begun in another folder")
    func commandLine() {
        let line = Array("evince\0--page-index=4\0/a/b.pdf\0c.pdf\0file:///d%20e.pdf\0../f\0".utf8)
        let found = EvinceProcesses.documents(in: line, folder: "/home/me").map(\.text)
        #expect(found == ["/a/b.pdf", "/home/me/c.pdf", "/d e.pdf"])
        #expect(EvinceProcesses.documents(in: [], folder: "").isEmpty)
    }
}

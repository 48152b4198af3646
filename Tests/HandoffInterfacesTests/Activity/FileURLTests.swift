// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffInterfaces
import Testing

@Suite("URLs of files")
struct FileURLTests {
    @Test(
        "a URL names a file of this machine; what is encoded in it is decoded once",
        arguments: [
            ("file:///a/b", "/a/b", ""), ("FILE:///a", "/a", ""), ("file:/a", "/a", ""),
            ("file://localhost/a", "/a", ""), ("file://LocalHost/a", "/a", ""), ("file:///a%20b", "/a b", ""),
            ("file:///a%2520b", "/a%20b", ""), ("file:///a%252e%252e/b", "/a%2e%2e/b", ""),
            ("file:///a%2e%2e/b", "/a../b", ""), ("file:///a/%2e%2e/b", "/a/../b", ""),
            ("file:///a#page=2", "/a", "#page=2"), ("file:///a?b#c", "/a", "?b#c"),
            ("file:///a#b?c", "/a", "#b?c"),
            ("file:///%C3%BC", "/ü", ""), ("file:///a%3Fb", "/a?b", ""),
        ])
    func file(_ text: String, _ path: String, _ suffix: String) throws {
        let file = try #require(FileURL(text))
        #expect(file.path == Array(path.utf8) && file.suffix == suffix)
    }

    @Test("a file's name need not be UTF-8")
    func bytes() throws {
        let file = try #require(FileURL("file:///a/%FF%FE"))
        #expect(file.path == [0x2F, 0x61, 0x2F, 0xFF, 0xFE])
        #expect(FileURL.text(file.path) == "file:///a/%FF%FE")
    }

    @Test(
        "anything else is no file of this machine",
        arguments: [
            "", "file", "file:", "file:a", "/a", "http://example.com/", "file://host/a", "file://192.0.2.1/a",
            "file:///a%00b", "file:///a%2Fb", "file:///a%zz", "file:///a%", " file:///a", "files:///a",
            "file://user@localhost/a",
        ])
    func others(_ text: String) {
        #expect(FileURL(text) == nil)
    }

    @Test("the URL of a path is that from which the path came")
    func text() {
        for path in ["/a b", "/ü", "/%20", "/a?b#c", "/a:b"] {
            let text = FileURL.text(Array(path.utf8))
            #expect(text.flatMap { FileURL($0) }?.path == Array(path.utf8))
        }
        #expect(FileURL.text(Array("a".utf8)) == nil && FileURL.text([0x2F, 0]) == nil)
    }
}

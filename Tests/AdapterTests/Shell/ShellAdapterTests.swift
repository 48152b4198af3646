// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Testing

@testable import ShellAdapter

@Suite("folders of shells")
struct ShellFolderTests {
    @Test("a folder arrives as it was")
    func folder() throws {
        for path in ["/home/me/Söme folder", "/", "/a%20b", "/a#b?c"] {
            #expect(ShellFolder.path(ShellFolder.value(path)) == path)
        }
    }

    @Test("what is no folder's URL is none")
    func none() throws {
        func value(_ tag: String, _ url: String) throws -> Value {
            try .structure([.string(tag), .variant(.string(url))])
        }
        #expect(ShellFolder.path(nil) == nil && ShellFolder.path(.string("/home")) == nil)
        for url in [
            "http://a/b", "file://other/home", "file:///a%0Ab", "file:///a%1B", "home", "file:///a?b",
        ] {
            #expect(ShellFolder.path(try value("url", url)) == nil)
        }
        #expect(ShellFolder.path(try value("date", "file:///home")) == nil)
    }

    @Test(
        "secrets' folders are private",
        arguments: ["/proc/1", "/home/me/.ssh", "/home/me/.gnupg/x", "/run/user/1"])
    func secrets(_ path: String) { #expect(ShellFolder.isPrivate(path)) }

    @Test("only this user's and the administrator's folders are there")
    func there() {
        #expect(
            ShellFolder.isThere("/usr") && !ShellFolder.isThere("/etc/passwd")
                && !ShellFolder.isThere("/no/such"))
    }
}

@Suite("what a terminal shows first")
struct ShellGreetingTests {
    @Test("nothing in the last commands can steer the terminal")
    func plain() {
        let text = ShellGreeting.text(
            device: "desk\u{1B}]0;x", folder: "/",
            history: ["ls\u{1B}[2J", "a\nb\r", String(repeating: "x", count: 999)])
        for scalar in text.unicodeScalars {
            #expect(scalar == "\n" || scalar.value >= 0x20 && scalar.value != 0x7F)
        }
        #expect(text.split(separator: "\n").count == 4 && text.count < 600)
    }

    @Test("no more than twenty commands are shown, the last ones")
    func count() {
        let shown = ShellHistory.shown((0..<1000).map { "command \($0)" })
        #expect(shown.count == 20 && shown.last == "command 999")
        #expect(ShellGreeting.text(device: "desk", folder: "/", history: []).isEmpty)
    }
}

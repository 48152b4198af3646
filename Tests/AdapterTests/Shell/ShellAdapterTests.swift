// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import HandoffCore
import TestSupport
import Testing

@testable import AdapterSupport
@testable import ShellAdapter

@Suite("folders of shells")
struct OwnFolderTests {
    @Test("a folder arrives as it was")
    func folder() throws {
        for path in ["/home/me/Söme folder", "/", "/a%20b", "/a#b?c"] {
            #expect(OwnFolder.path(OwnFolder.value(path)) == path)
        }
    }

    @Test("what is no folder's URL is none")
    func none() throws {
        func value(_ tag: String, _ url: String) throws -> Value {
            try .structure([.string(tag), .variant(.string(url))])
        }
        #expect(OwnFolder.path(nil) == nil && OwnFolder.path(.string("/home")) == nil)
        for url in [
            "http://a/b", "file://other/home", "file:///a%0Ab", "file:///a%1B", "home", "file:///a?b",
            "file:////proc/1", "file:///./proc", "file:///tmp/../dev/shm", "file:///tmp/%2E%2E/dev",
            "file:///home/",
            "file:///a%2F%2Fb", "file:///home/.",
        ] {
            #expect(OwnFolder.path(try value("url", url)) == nil)
        }
        #expect(OwnFolder.path(try value("date", "file:///home")) == nil)
    }

    @Test(
        "secrets' folders are private",
        arguments: [
            "/proc/1", "/home/me/.ssh", "/home/me/.gnupg/x", "/run/user/1", "/dev", "/run/media",
            "/home/.SSH/\u{301}",
        ])
    func secrets(_ path: String) { #expect(OwnFolder.isPrivate(path)) }

    @Test("others are not", arguments: ["/", "/home/me", "/run/media/me", "/home/proc", "/device"])
    func others(_ path: String) { #expect(!OwnFolder.isPrivate(path)) }

    @Test(
        "a path is in its plainest form",
        arguments: [
            "", "home", "//", "//proc/self", "/./proc", "/home/..", "/tmp/../dev/shm", "/home/", "/a//b",
            "/a\u{7}", "/./\u{301}",
        ])
    func roundabout(_ path: String) { #expect(!OwnFolder.isUsable(path)) }

    @Test(
        "names that only look like “.” and “..” are usable",
        arguments: ["/", "/...", "/.a", "/a..", "/home/.config"])
    func plain(_ path: String) { #expect(OwnFolder.isUsable(path)) }

    @Test("only this user's and the administrator's folders are there, and none that anybody can write")
    func there() throws {
        let folder = try TemporaryDirectory()
        let own = folder.path("own")
        #expect(mkdir(own, 0o700) == 0)
        #expect(OwnFolder.look(at: "/usr") == .folder && OwnFolder.look(at: own) == .folder)
        #expect(OwnFolder.look(at: "/etc/passwd") == .none && OwnFolder.look(at: "/no/such") == .none)
        #expect(OwnFolder.look(at: "/tmp") == .open)
        #expect(chmod(own, 0o702) == 0 && OwnFolder.look(at: own) == .open)
    }

    @Test(
        "a link to a secrets' folder is as private as that is",
        arguments: ["/proc", "/dev/shm", ".ssh", ".ssh/more"])
    func links(_ place: String) throws {
        let folder = try TemporaryDirectory()
        let secrets = folder.path(".ssh")
        #expect(mkdir(secrets, 0o700) == 0 && mkdir(secrets + "/more", 0o700) == 0)
        let link = folder.path("link")
        #expect(symlink(place.hasPrefix("/") ? place : folder.path(place), link) == 0)
        #expect(!OwnFolder.isPrivate(link) && OwnFolder.look(at: link) == .private)
    }
}

@Suite("what a terminal shows first")
struct ShellGreetingTests {
    @Test("nothing in the last commands can steer the terminal")
    func plain() {
        let text = ShellGreeting.text(
            device: "desk\u{1B}]0;x",
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
        #expect(ShellGreeting.text(device: "desk", history: []).isEmpty)
    }
}

@Suite("sessions of other devices")
struct SessionTests {
    @Test(
        "have a name that neither a shell nor tmux can take for anything else",
        arguments: [
            "", "-a", "a b", "a;b", "$(id)", "`id`", "a'b", "=a", "a:0", "a.b", "a\nb", "é", "#{a}", "%1",
            "@1",
            String(repeating: "a", count: 65),
        ])
    func names(_ name: String) { #expect(SessionName(name) == nil) }

    @Test("are attached to by one command, of which they are one quoted word")
    func command() {
        for name in ["work", "_", "a-b_c", "9", String(repeating: "a", count: 64)] {
            let command = SessionName(name)?.command(on: "me@host.example")
            #expect(command == ["ssh", "-t", "--", "me@host.example", "tmux attach -t '=\(name)'"])
        }
    }

    @Test("are allowed by device and host, and at no host that was allowed before")
    func allowed() throws {
        let (one, two) = (String(repeating: "a", count: 64), String(repeating: "b", count: 64))
        let (first, second) = (try #require(DeviceID(one)), try #require(DeviceID(two)))
        var allowed = AllowedSessions("nonsense\n\n")
        allowed.add(first, "here")
        allowed.add(second, "there")
        #expect(
            allowed.holds(first, "here") && !allowed.holds(first, "there") && !allowed.holds(second, "here"))
        allowed.add(first, "elsewhere")
        #expect(!allowed.holds(first, "here") && allowed.holds(second, "there"))
        #expect(AllowedSessions(allowed.text) == allowed)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import Testing

@testable import HandoffCommand

@Suite("Removing what is kept")
struct RemovalTests {
    /// A folder of its own, which `body` may leave in any state.
    private static func inFolder(_ body: (String) throws -> Void) rethrows {
        var template = Array("/tmp/handoff-removal-XXXXXX".utf8CString)
        _ = mkdtemp(&template)
        let folder = String(
            decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try body(folder)
        var removal = Removal()
        removal.remove(folder)
    }

    private static func make(_ path: String) { close(open(path, O_WRONLY | O_CREAT, 0o600)) }
    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    @Test("a folder goes with everything in it, a link without what it leads to")
    func everything() {
        Self.inFolder { folder in
            let (state, other) = ("\(folder)/state", "\(folder)/other")
            mkdir(state, 0o700)
            mkdir("\(state)/inner", 0o700)
            mkdir(other, 0o700)
            for path in ["\(state)/one", "\(state)/inner/.two", "\(other)/three"] { Self.make(path) }
            symlink(other, "\(state)/folder")
            symlink("\(other)/three", "\(state)/inner/file")
            symlink("nowhere", "\(state)/nothing")
            mkfifo("\(state)/pipe", 0o600)
            var removal = Removal()
            removal.remove(state)
            #expect(removal.failures.isEmpty)
            #expect(!Self.exists(state))
            #expect(Self.exists("\(other)/three"))
        }
    }

    @Test("a link in the place of the folder goes, and what it leads to stays")
    func link() {
        Self.inFolder { folder in
            mkdir("\(folder)/other", 0o700)
            Self.make("\(folder)/other/one")
            symlink("other", "\(folder)/state")
            var removal = Removal()
            removal.remove("\(folder)/state")
            #expect(removal.failures.isEmpty && !Self.exists("\(folder)/state"))
            #expect(Self.exists("\(folder)/other/one"))
        }
    }

    @Test("what is not there is no failure, nor is a path through a file")
    func absent() {
        Self.inFolder { folder in
            Self.make("\(folder)/file")
            var removal = Removal()
            removal.remove("\(folder)/nothing")
            removal.remove("\(folder)/file/below")
            removal.remove(from: "\(folder)/nothing") { _ in true }
            #expect(removal.failures.isEmpty)
            #expect(Self.exists("\(folder)/file"))
        }
    }

    @Test(
        "of a folder that the user shares, only what has the names goes; the folder if nothing else is in it")
    func names() {
        Self.inFolder { folder in
            let shared = "\(folder)/shared"
            mkdir(shared, 0o700)
            for name in ["handoff.conf", "handoff.conf.ABC123", "notes"] { Self.make("\(shared)/\(name)") }
            var removal = Removal()
            removal.remove(from: shared, named: WrittenFile("handoff.conf").hasName)
            #expect(Self.exists("\(shared)/notes") && !Self.exists("\(shared)/handoff.conf.ABC123"))
            unlink("\(shared)/notes")
            removal.remove(from: shared, named: WrittenFile("handoff.conf").hasName)
            #expect(removal.failures.isEmpty && !Self.exists(shared))
        }
    }

    @Test(
        "a file that was being written goes with the whole one, and a copy that the user has made does not",
        arguments: [
            ("handoff.conf", true), ("handoff.conf.7F5LKX", true), ("handoff.conf.012345", true),
            ("handoff.conf.bak", false), ("handoff.conf.backup", false), ("handoff.conf~", false),
            ("handoff.conf.", false), ("handoff.conf.7F5LK", false), ("handoff.conf.7F5LKX1", false),
            ("handoff.conf7F5LKX", false), ("handoff.conf.d", false), ("handoff.con", false), ("", false),
        ])
    func written(name: String, isOurs: Bool) {
        #expect(WrittenFile("handoff.conf").hasName(name) == isOurs)
    }

    @Test("names that are no text go too, and those that stay cannot steer a terminal when they are told")
    func oddNames() {
        Self.inFolder { folder in
            mkdir("\(folder)/state", 0o700)
            for name in [[0x62, 0xFF, 0xFE], [0xC3], [0x1B, 0x5B, 0x32, 0x4A]] as [[UInt8]] {
                let path = Array("\(folder)/state/".utf8) + name + [0]
                mkdir(path.map { CChar(bitPattern: $0) }, 0o700)
                let inner = path.dropLast() + [0x2F, 0xFF, 0]
                close(open(inner.map { CChar(bitPattern: $0) }, O_WRONLY | O_CREAT, 0o600))
            }
            var removal = Removal()
            removal.remove("\(folder)/state")
            #expect(removal.failures.isEmpty && !Self.exists("\(folder)/state"))
            var path = "\(folder)/state"
            for _ in 0..<20 {
                mkdir(path, 0o700)
                path += "/\u{1B}[2J"
            }
            removal.remove("\(folder)/state")
            #expect(removal.failures.count == 1)
            #expect(removal.failures.allSatisfy { !$0.utf8.contains(0x1B) })
            while path != folder {
                rmdir(path)
                path = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
            }
        }
    }

    @Test("what is deeper than anything of Handoff's stays, and is told")
    func deep() {
        Self.inFolder { folder in
            var path = "\(folder)/state"
            for _ in 0..<20 {
                mkdir(path, 0o700)
                path += "/d"
            }
            var removal = Removal()
            removal.remove("\(folder)/state")
            #expect(removal.failures.count == 1)
            #expect(
                removal.failures.first?.hasSuffix(
                    "could not be removed: it is deeper than anything of Handoff's.")
                    == true)
            // For the end of the test.
            var rest = Array(repeating: "d", count: 20)
            while !rest.isEmpty {
                rmdir("\(folder)/state/" + rest.joined(separator: "/"))
                rest.removeLast()
            }
        }
    }
}

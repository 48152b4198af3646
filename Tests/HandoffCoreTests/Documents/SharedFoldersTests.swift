// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("Shared folders")
struct SharedFoldersTests {
    private static func folder(_ name: String, _ path: String) throws -> SharedFolder {
        try SharedFolder(name, at: path)
    }

    private static func folders(_ paths: KeyValuePairs<String, String>) throws -> SharedFolders {
        SharedFolders(chosen: try paths.map { try folder($0, $1) })
    }

    private static func item(_ folder: String, _ way: String) -> SharedFolders.Item {
        SharedFolders.Item(folder: folder, way: Array(way.utf8))
    }

    @Test(
        "what lies in a folder is named by the folder and the way from there",
        arguments: [
            ("/home/me/Nextcloud/a.txt", "a.txt"), ("/home/me/Nextcloud/b/c d.txt", "b/c d.txt"),
            ("/home/me/Nextcloud/b/", "b/"), ("/home/me/Nextcloud", ""), ("/home/me/Nextcloud/..a", "..a"),
            ("/home/me/Nextcloud/.hidden", ".hidden"),
        ])
    func item(_ path: String, _ way: String) throws {
        let folders = try Self.folders(["Cloud": "/home/me/Nextcloud/"])
        #expect(folders.item(at: Array(path.utf8)) == Self.item("Cloud", way))
        #expect(folders.path(of: Self.item("Cloud", way)) == Array(path.utf8))
    }

    @Test(
        "what only looks as if it lay in a folder does not",
        arguments: [
            "/home/me/Nextcloud2/a", "/home/me/Nextclou", "/home/me", "/", "", "home/me/Nextcloud/a",
            "/home/me/Nextcloud/../b", "/home/me/x/../Nextcloud/a", "/home/me/Nextcloud/./a",
            "/home/me/Nextcloud//a", "//home/me/Nextcloud/a", "/home/me/Nextcloud/a\0b",
            "/home/me/Nextcloud/..",
            "/home/me/Nextcloud/a//",
        ])
    func notBeneath(_ path: String) throws {
        #expect(try Self.folders(["Cloud": "/home/me/Nextcloud"]).items(at: Array(path.utf8)) == [])
    }

    @Test(
        "a way that does not stay beneath its folder leads nowhere",
        arguments: [
            "../a", "a/../../b", "..", ".", "/etc/passwd", "/", "a//b", "a\0", "./a", "a/.", "a//",
            String(repeating: "x", count: 4096),
        ])
    func traversal(_ way: String) throws {
        #expect(try Self.folders(["Cloud": "/home/me/Nextcloud"]).path(of: Self.item("Cloud", way)) == nil)
    }

    @Test("a folder that is not here leads nowhere")
    func unknown() throws {
        #expect(try Self.folders(["Cloud": "/a"]).path(of: Self.item("Other", "b")) == nil)
        #expect(SharedFolders().path(of: Self.item("Cloud", "b")) == nil)
    }

    @Test("of folders in one another the innermost counts")
    func innermost() throws {
        let folders = try Self.folders([
            "Home": "/home/me", "Cloud": "/home/me/Cloud", "Photos": "/home/me/Cloud/Photos",
        ])
        #expect(folders.item(at: Array("/home/me/Cloud/Photos/a".utf8)) == Self.item("Photos", "a"))
        #expect(folders.items(at: Array("/home/me/Cloud/b".utf8)).map(\.folder) == ["Cloud", "Home"])
    }

    @Test("an item is found here in the innermost folder that both devices have")
    func common() throws {
        let here = try Self.folders(["Cloud": "/srv/cloud"])
        let there = try Self.folders(["Cloud": "/home/me/Cloud", "Photos": "/home/me/Cloud/Photos"])
        let path = here.path(ofItemAt: Array("/home/me/Cloud/Photos/a".utf8), among: there)
        #expect(path == Array("/srv/cloud/Photos/a".utf8))
        #expect(here.path(ofItemAt: Array("/home/me/a".utf8), among: there) == nil)
    }

    @Test("names that the user has given come first, and found ones beside them stay known")
    func precedence() throws {
        let folders = SharedFolders(
            chosen: [try Self.folder("Cloud", "/a"), try Self.folder("Same", "/c")],
            found: [try Self.folder("nextcloud:host/", "/a"), try Self.folder("Same", "/d")])
        #expect(folders.items(at: Array("/a/x".utf8)).map(\.folder) == ["Cloud", "nextcloud:host/"])
        #expect(folders["Same"]?.path == Array("/c".utf8))
    }

    @Test("a found name that stands for two places stands for none")
    func ambiguous() throws {
        let found = try [("n", "/a"), ("n", "/b"), ("m", "/c"), ("m", "/c")].map { try Self.folder($0, $1) }
        #expect(SharedFolders(found: found).folders.map(\.name) == ["m"])
    }

    @Test(
        "the root of the file system, and what is no absolute path, is no shared folder",
        arguments: [
            "/", "//", "", "a/b", "./a", "~/a", "/a/../b", "/a//b", "/a/.", "/a\nb", "/\u{202E}a", "/a\0",
            "/" + String(repeating: "x", count: 4095), "/a" + String(repeating: "/", count: 1 << 20),
        ])
    func notAFolder(_ path: String) {
        #expect(throws: HandoffFailure.self) { try Self.folder("Cloud", path) }
    }

    @Test(
        "a name has 1 to 255 bytes without control characters",
        arguments: ["", "a\nb", String(repeating: "ä", count: 128)])
    func notAName(_ name: String) {
        #expect(throws: HandoffFailure.self) { try Self.folder(name, "/a") }
    }

    @Test("slashes at the end of a folder's path do not count")
    func slashes() throws {
        #expect(try Self.folder("Cloud", "/a/b///").path == Array("/a/b".utf8))
    }
}

@Suite("Shared folders, whatever they are")
struct SharedFoldersPropertyTests {
    private static let parts = ["a", "b", "ab", ".", "..", "", "…", "a b", "\0"]

    private func path(_ generator: inout SeededGenerator) throws -> [UInt8] {
        let count = Int.random(in: 0...5, using: &generator)
        let parts = try (0..<count).map { _ in try generator.pick(Self.parts) }
        return Array(((generator.chance(90) ? "/" : "") + parts.joined(separator: "/")).utf8)
    }

    private func folders(_ generator: inout SeededGenerator) throws -> SharedFolders {
        var all: [SharedFolder] = []
        for _ in 0..<4 {
            let (name, path) = (try generator.pick(["one", "two", "three"]), try path(&generator))
            if let folder = try? SharedFolder(name, at: path) { all.append(folder) }
        }
        let split = Int.random(in: 0...all.count, using: &generator)
        return SharedFolders(chosen: Array(all[..<split]), found: Array(all[split...]))
    }

    @Test(
        "what is found here lies beneath a folder here, and is there the same that it is here",
        arguments: 1...30)
    func mapping(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let (here, there) = (try folders(&generator), try folders(&generator))
            let path = try path(&generator)
            for item in there.items(at: path) {
                // A slash after the folder itself is lost.
                let back = try #require(there.path(of: item))
                #expect(back == path || item.way.isEmpty && back + [0x2F] == path)
            }
            guard let mapped = here.path(ofItemAt: path, among: there) else { continue }
            let folder = here.folders.first { mapped == $0.path || mapped.starts(with: $0.path + [0x2F]) }
            #expect(folder != nil)
            let parts = mapped.split(separator: 0x2F, omittingEmptySubsequences: false)
            #expect(!parts.contains([0x2E, 0x2E]) && !parts.contains([0x2E]) && !mapped.contains(0))
            #expect(there.items(at: path).contains { here.path(of: $0) == mapped })
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import HandoffCore
import HandoffInterfaces
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("Files in shared folders, as they arrive")
struct SharedURLsTests {
    private static let origin = "file:///home/me/Nextcloud"

    private static func url(_ text: String) throws -> Value {
        try .structure([.string("url"), .variant(.string(text))])
    }

    private static func named(_ folders: KeyValuePairs<String, String>) throws -> Value {
        try .dictionary(key: "s", value: "s", folders.map { (.string($0), .string($1)) })
    }

    private static func fetched(_ values: [String: Value]) -> [String: Value] {
        let required: [String: Value] = [
            "ActivityType": .string("com.example.notes.edit"), "ApplicationId": .string("com.example.notes"),
            "Team": .string("com.example"),
        ]
        return required.merging(values) { $1 }
    }

    /// What becomes of an activity here, where “Cloud” is in another place.
    private static func check(_ values: [String: Value]) throws -> (
        activity: [String: Value], document: FetchedDocument?
    ) {
        let here = SharedFolders(chosen: [try SharedFolder("Cloud", at: "/data/cloud")])
        let result = try FetchedActivity.check(fetched(values), Sample.offer(), here)
        return (result.activity, result.document)
    }

    /// What becomes of a tagged URL.
    private static func arrived(_ text: String, _ folders: Value) throws -> String? {
        let activity = try check(["UserInfo": .properties(["u": url(text)]), "SharedFolders": folders])
            .activity
        guard case .structure(let structure)? = activity["UserInfo"]?.properties?["u"] else { return nil }
        return SharedURLs.url(of: structure) ?? text
    }

    @Test(
        "a tagged URL into a shared folder arrives as that of the same item here",
        arguments: [
            ("/a.txt", "/a.txt"), ("/b/c%20d.txt", "/b/c%20d.txt"), ("", ""), ("/b/", "/b/"),
            ("/a.pdf#page=2", "/a.pdf#page=2"), ("/a%2520b", "/a%2520b"), ("/%FF", "/%FF"),
            ("/%C3%BC", "/%C3%BC"),
        ])
    func mapped(_ way: String, _ expected: String) throws {
        let folders = try Self.named(["Cloud": Self.origin])
        #expect(try Self.arrived(Self.origin + way, folders) == "file:///data/cloud" + expected)
    }

    @Test(
        "any other tagged URL arrives as it left",
        arguments: [
            "file:///home/me/Nextcloud2/a", "file:///home/me/a", "file:///home/me/Nextcloud/../a",
            "file:///home/me/Nextcloud/%2e%2e/a", "file:///home/me/Nextcloud/b/%2E%2E/%2e%2e/a",
            "file:///home/me/Nextcloud//a", "file:///home/me/Nextcloud/a%00b",
            "file:///home/me/Nextcloud/a%2Fb",
            "file://host/home/me/Nextcloud/a", "https://example.com/home/me/Nextcloud/a", "file:", "",
        ])
    func unchanged(_ text: String) throws {
        #expect(try Self.arrived(text, Self.named(["Cloud": Self.origin])) == text)
    }

    @Test(
        "a folder that the origin may not name so changes nothing",
        arguments: [
            "file:///", "file://host/home/me/Nextcloud", "/home/me/Nextcloud", "home", "",
            "file:///home/../home/me/Nextcloud",
            "file:///home/me/Nextcloud#x", "file:///home/me/Next%00cloud", "http://example.com/",
        ])
    func hostileFolder(_ url: String) throws {
        let text = "file:///home/me/Nextcloud/a"
        #expect(try Self.arrived(text, Self.named(["Cloud": url])) == text)
    }

    @Test("a folder that is unknown here changes nothing, and hides none that is known")
    func unknownFolder() throws {
        let text = Self.origin + "/b/a"
        #expect(try Self.arrived(text, Self.named(["Other": Self.origin])) == text)
        let both = try Self.named(["Other": Self.origin + "/b", "Cloud": Self.origin])
        #expect(try Self.arrived(text, both) == "file:///data/cloud/b/a")
    }

    @Test("wherever a tagged URL stands, it is found, and all else arrives with its type")
    func everywhere() throws {
        let (old, new) = (try Self.url(Self.origin + "/a"), try Self.url("file:///data/cloud/a"))
        func userInfo(_ url: Value) throws -> Value {
            .properties([
                "array": try .array(of: "(sv)", [url, try Self.url("https://example.com/")]),
                "set": try .structure([.string("set"), .variant(.array(of: "v", [.variant(url)]))]),
                "dictionary": try .dictionary(key: "s", value: "v", [(.string("k"), .variant(url))]),
                "deep": .nested(url, depth: 20), "text": .string(Self.origin + "/a"), "n": .uint16(7),
                "date": try .structure([.string("date"), .variant(.int64(1))]),
                "none": try .array(of: "(sv)", []),
                "bytes": .bytes(Array(Self.origin.utf8)),
            ])
        }
        let activity = try Self.check([
            "UserInfo": userInfo(old), "SharedFolders": Self.named(["Cloud": Self.origin]),
        ]).activity
        #expect(try activity["UserInfo"] == userInfo(new))
        #expect(activity["SharedFolders"] == nil)
    }

    @Test("a URL that would make UserInfo too large stays as it is, and those that fit do not")
    func size() throws {
        let here = SharedFolders(chosen: [
            try SharedFolder("Cloud", at: "/" + String(repeating: "x", count: 1000))
        ])
        let entries = try (100..<400).map { ("u\($0)", try Self.url("file:///c/\($0)")) }
        var properties = Dictionary(uniqueKeysWithValues: entries)
        properties["bulk"] = .bytes([UInt8](repeating: 0, count: 100_000))
        let fetched = Self.fetched([
            "UserInfo": .properties(properties), "SharedFolders": try Self.named(["Cloud": "file:///c"]),
        ])
        let userInfo = try #require(FetchedActivity.check(fetched, Sample.offer(), here).activity["UserInfo"])
        let size = try UserInfo(userInfo).size
        #expect(size > UserInfoRules.maximumSize - 1100 && size <= UserInfoRules.maximumSize)
        #expect(userInfo.properties?.count == 301)
    }

    @Test(
        "a document in a shared folder has its path here, anything else has none; and never is DocumentURL the origin's",
        arguments: [
            ("/a.txt", "/data/cloud/a.txt"), ("/b/c%20d", "/data/cloud/b/c d"),
            ("/a%2520b", "/data/cloud/a%20b"),
            ("", nil), ("/", nil), ("/b/", nil), ("/../a", nil), ("/%2e%2e/a", nil), ("2/a", nil),

            ("/a#b", nil),
        ] as [(String, String?)])
    func document(_ way: String, _ path: String?) throws {
        let values: [String: Value] = [
            "DocumentURL": .string(Self.origin + way),
            "SharedFolders": try Self.named(["Cloud": Self.origin]),
            "DocumentSize": .uint64(5), "DocumentModified": .int64(-7),
        ]
        let (activity, document) = try Self.check(values)
        let expected = FetchedDocument(
            url: Self.origin + way, sharedPath: path, sharedFolder: path.map { _ in "/data/cloud" }, size: 5,
            modified: -7)
        #expect(document == expected)
        #expect(activity["DocumentURL"] == nil && activity["DocumentSize"] == nil)
    }

    @Test(
        "what has the wrong type is refused, naming the key, and so are too many folders",
        arguments: [
            ("SharedFolders", .strings(["a"]), .invalidArguments),
            ("SharedFolders", .properties([:]), .invalidArguments),
            ("DocumentSize", .int64(1), .invalidArguments),
            ("DocumentModified", .uint64(1), .invalidArguments),
        ] as [(String, Value, HandoffFailure.Code)])
    func wrongType(_ key: String, _ value: Value, _ code: HandoffFailure.Code) {
        let failure = failure { _ = try Self.check([key: value]) }
        #expect(failure?.code == code && failure?.message.contains(key) == true)
    }

    @Test("more than 64 folders are refused")
    func tooMany() throws {
        let named = try Value.dictionary(
            key: "s", value: "s", (0..<65).map { (.string("n\($0)"), .string("file:///a\($0)")) })
        let failure = failure { _ = try Self.check(["SharedFolders": named]) }
        #expect(failure?.code == .limitsExceeded)
    }

    @Test(
        "a tagged URL that a link leads out of the shared folder arrives as it left; one within it is followed"
    )
    func links() throws {
        let folder = try TemporaryDirectory()
        try folder.write("mine", to: "private/key")
        try folder.write("ours", to: "cloud/papers/a")
        for (link, target) in [
            ("out", "../private"), ("file", "../private/key"), ("nothing", "../private/later"),
            ("in", "papers"),
            ("loop", "loop"),
        ] {
            symlink(target, folder.path("cloud/\(link)"))
        }
        symlink("cloud", folder.path("linked"))
        for here in ["cloud", "linked"] {
            let folders = SharedFolders(chosen: [try SharedFolder("Cloud", at: folder.path(here))])
            let urls = try SharedURLs(
                ["SharedFolders": Self.named(["Cloud": Self.origin])], here: folders)
            for way in ["/out/key", "/out", "/out/new/file", "/file", "/nothing", "/nothing/a", "/loop"] {
                #expect(urls.url(Self.origin + way) == nil, "\(way)")
            }
            for way in ["", "/papers/a", "/in/a", "/in", "/new", "/new/a", "/papers/"] {
                #expect(urls.url(Self.origin + way) == "file://\(folder.path(here))\(way)", "\(way)")
            }
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@testable import HandoffBroker

@Suite("Folders of Nextcloud and ownCloud clients")
struct CloudConfigurationTests {
    private static let account = """
        [General]
        0\\Folders\\1\\localPath=/not/an/account/
        [Accounts]
        0\\Folders\\1\\ignoreHiddenFiles=false
        0\\Folders\\1\\localPath=/home/me/Nextcloud/
        0\\Folders\\1\\targetPath=/
        0\\FoldersWithPlaceholders\\Docs%252FWork\\localPath=/home/me/Work
        0\\FoldersWithPlaceholders\\Docs%252FWork\\targetPath=/Docs/Work/
        0\\Multifolders\\2\\localPath="/home/me/My Docs, 2024/"
        0\\Multifolders\\2\\targetPath="/My Docs, 2024"
        0\\dav_user=me
        0\\serverColor=@Variant(\\0\\0\\0\\x43\\x1\\xff\\xff)
        0\\url=https://Cloud.Example.com:443/
        1\\Folders\\1\\localPath=/home/me/Family
        1\\Folders\\1\\targetPath=/
        1\\url=https://home.example:8443/nextcloud/
        version=2
        [Settings]
        2\\Folders\\1\\localPath=/home/me/x
        """

    private static func folders(_ text: String, client: String = "nextcloud") -> [String: String] {
        let folders = CloudConfiguration.folders(Array(text.utf8), client: client)
        return Dictionary(folders.map { ($0.name, String(decoding: $0.path, as: UTF8.self)) }) { first, _ in
            first
        }
    }

    @Test("each folder of each account is found, called by its user, its server and its place there")
    func found() {
        #expect(
            Self.folders(Self.account) == [
                "nextcloud:me@cloud.example.com/": "/home/me/Nextcloud",
                "nextcloud:me@cloud.example.com/Docs/Work": "/home/me/Work",
                "nextcloud:me@cloud.example.com/My Docs, 2024": "/home/me/My Docs, 2024",
                "nextcloud:home.example:8443/nextcloud/": "/home/me/Family",
            ])
    }

    @Test("a space of ownCloud is called by its own address")
    func space() {
        let text = """
            [Accounts]
            0\\Folders\\1\\localPath=/home/me/Team
            0\\Folders\\1\\davUrl=https://ocis.example/dav/spaces/a$b
            0\\Folders\\1\\targetPath=
            0\\Folders\\2\\localPath=/home/me/ownCloud
            0\\Folders\\2\\davUrl=https://old.example/remote.php/dav/files/me/
            0\\url=https://ocis.example
            """
        #expect(
            Self.folders(text, client: "owncloud") == [
                "owncloud:ocis.example/dav/spaces/a$b/": "/home/me/Team",
                "owncloud:ocis.example/": "/home/me/ownCloud",
            ])
    }

    private static func path(_ value: String) -> String? {
        folders("[Accounts]\n0\\url=https://a\n0\\Folders\\1\\localPath=\(value)\n").values.first
    }

    @Test(
        "values are read as Qt writes them",
        arguments: [
            ("/a/b", "/a/b"), (" /a ", "/a"), ("\"/a b \"", "/a b "), ("/\\xe4x", "/äx"),
            ("/\\xe4\\x62", "/äb"),
            ("/\\xd83d\\xde00", "/😀"), ("/ä", "/ä"), ("/a\\\\b", "/a\\b"), ("/a\\\"b", "/a\"b"),
            ("/\\141", "/a"),
            ("\"/a;b\"", "/a;b"), ("\"/a=b\"", "/a=b"), ("/a=b", "/a=b"), ("/a\\\nb", "/ab"),
            ("/a\\\r\nb", "/ab"),
            ("\"/a\\x9\"", nil), ("/a,/b", nil), ("@ByteArray(/a)", nil), ("@@/a", nil), ("/\\xd83d", nil),
            ("", nil), ("\\", nil), ("/a\\0b", nil), ("relative", nil), ("/", nil), ("/a/../b", nil),
            ("\"/a", "/a"),
        ] as [(String, String?)])
    func values(_ value: String, _ expected: String?) {
        #expect(Self.path(value) == expected)
    }

    @Test("comments, empty lines and line breaks of all kinds are understood")
    func lines() {
        let text =
            "\r\n; \"0\\url=https://x\n[Other]\r[Accounts]\r\n\n;\\\n0\\url = https://a\n 0\\Folders\\1\\localPath =/b\r"
        #expect(Self.folders(text) == ["nextcloud:a/": "/b"])
    }

    @Test(
        "what is broken is left out",
        arguments: [
            "", "[Accounts", "[Accounts]", "[Accounts]\n0\\Folders\\1\\localPath=/a",
            "[Accounts]\n0\\url=x\n0\\Folders\\1\\localPath=/a",
            "[Accounts]\n0\\url=https://\n0\\Folders\\1\\localPath=/a",
            "[Accounts]\n0\\url=https://a\n\\localPath=/a", "[Accounts]\n0\\url=https://a\nlocalPath=/a",
            "[Accounts]\n0\\url=https://a\n0\\Other\\1\\localPath=/a",
        ])
    func broken(_ text: String) {
        #expect(Self.folders(text).isEmpty)
    }

    @Test("bytes of no meaning, and as many folders as fit into a file, do no harm")
    func hostile() {
        #expect(CloudConfiguration.folders((0...255).map { UInt8($0) }, client: "n").isEmpty)
        #expect(CloudConfiguration.folders([UInt8](repeating: 0x5C, count: 262_144), client: "n").isEmpty)
        #expect(CloudConfiguration.folders([UInt8](repeating: 0x22, count: 262_144), client: "n").isEmpty)
        let many = (0..<8000).map { "0\\Folders\\\($0)\\localPath=/a\($0)" }.joined(separator: "\n")
        #expect(Self.folders("[Accounts]\n0\\url=https://a\n\(many)").count <= SharedFolders.maximumCount)
    }
}

@Suite("Folders of Syncthing")
struct SyncthingConfigurationTests {
    private static func folders(_ text: String) -> [String: String] {
        let folders = SyncthingConfiguration.folders(Array(text.utf8), home: "/home/me")
        return Dictionary(folders.map { ($0.name, String(decoding: $0.path, as: UTF8.self)) }) { first, _ in
            first
        }
    }

    @Test("each folder is found, called by its id, and patterns for others are none")
    func found() {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- a comment -->
            <configuration version="37">
                <folder id="default" label="Default Folder" path="/home/me/Sync" type="sendreceive">
                    <filesystemType>basic</filesystemType>
                    <device id="AAA" introducedBy=""><encryptionPassword></encryptionPassword></device>
                </folder>
                <folder id="abcde-fghij" label="A &amp; B" path="~/A &amp; B/" type="receiveonly"/>
                <folder id="home" path="~"></folder>
                <folder id="safe" path="/srv/safe" type="receiveencrypted"></folder>
                <folder id="" path="/a"></folder><folder path="/b"/><folder id="c"/>
                <folder id="d" path="relative"/><folder id="e" path="/"/><folder id="f" path="~other/x"/>
                <defaults><folder id="pattern" path="/pattern"></folder></defaults>
            </configuration>
            """
        #expect(
            Self.folders(text) == [
                "syncthing:default": "/home/me/Sync", "syncthing:abcde-fghij": "/home/me/A & B",
                "syncthing:home": "/home/me",
            ])
    }

    @Test(
        "what is broken is left out",
        arguments: [
            "", "<", "<configuration>", "<folder id='a' path='/a'/>",
            "<a><b><folder id='a' path='/a'/></b></a>",
            "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><c><folder id='&b;' path='/a'/></c>",
            "<c><folder id='a' path='/a'", "not XML", "<c><folder id='a&#10;' path='/a'/></c>",
        ])
    func broken(_ text: String) {
        #expect(Self.folders(text).isEmpty)
    }

    @Test("bytes of no meaning, deep nesting, and as many folders as fit into a file, do no harm")
    func hostile() {
        #expect(SyncthingConfiguration.folders((0...255).map { UInt8($0) }, home: "/home").isEmpty)
        let (begin, end) = (String(repeating: "<a>", count: 40), String(repeating: "</a>", count: 40))
        let folders = ["one", "two"].map { #"<folder id="\#($0)" path="/\#($0)"/>"# }
        let deep = "<configuration>\(folders[0])\(begin)\(end)\(folders[1])</configuration>"
        #expect(
            SyncthingConfiguration.folders(Array(deep.utf8), home: "/home").map(\.name) == ["syncthing:one"])
        #expect(Self.folders(String(repeating: "<a>", count: 80_000)).isEmpty)
        let many = (0..<8000).map { "<folder id='\($0)' path='/a\($0)'/>" }.joined()
        #expect(Self.folders("<c>\(many)</c>").count == SharedFolders.maximumCount)
    }
}

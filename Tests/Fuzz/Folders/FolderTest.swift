// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import FuzzSupport
import HandoffCore
import HandoffInterfaces

@testable import HandoffBroker

/// Configurations of sync clients, and URLs of files with the folders that a peer says they are in.
enum FolderTest {
    private static let home = "/home/me"
    private static let slash = UInt8(ascii: "/")
    private static let here = SharedFolders(
        chosen: ["Cloud": "/srv/cloud", "Inner": "/srv/cloud/inner", "b": "/b"]
            .compactMap { try? SharedFolder($0, at: $1) })

    static func run(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let rest = Array(bytes.dropFirst())
        switch first % 4 {
        case 0:
            checkFound(
                CloudConfiguration.folders(Array("[Accounts]\n0\\url=https://a\n".utf8) + rest, client: "c"))
        case 1: checkFound(CloudConfiguration.folders(rest, client: "c"))
        case 2: checkFound(SyncthingConfiguration.folders(Array("<c>".utf8) + rest, home: home))
        default: checkURLs(rest)
        }
    }

    private static func checkFound(_ folders: [SharedFolder]) {
        require(folders.count <= SharedFolders.maximumCount, "\(folders.count) folders")
        for folder in folders {
            checkPlain(folder.path)
            let again = require("\(folder) is refused") { try SharedFolder(folder.name, at: folder.path) }
            require(again == folder, "\(again) was \(folder)")
        }
        let known = SharedFolders(found: folders)
        for folder in known.folders {
            require(
                known.path(ofItemAt: folder.path + [slash, 0x61], among: known) == folder.path + [
                    slash, 0x61,
                ], "\(folder)")
        }
    }

    /// Checks that `path` is absolute and leads nowhere but down.
    private static func checkPlain(_ path: [UInt8]) {
        let parts = path.split(separator: slash, omittingEmptySubsequences: false)
        require(
            parts.first?.isEmpty == true && parts.count > 1 && !path.contains(0), "\(path) is not absolute")
        for part in parts.dropFirst() where part == [0x2E] || part == [0x2E, 0x2E] {
            require(false, "\(path)")
        }
    }

    // MARK: URLs

    private static func checkURLs(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self).replacing("\0", with: "%00") }
        let (url, folder) = (lines[0], lines.count > 1 ? lines[1] : "file:///a")
        if let file = FileURL(url) {
            let text = FileURL.text(file.path, suffix: file.suffix)
            require(text.flatMap { FileURL($0) }?.path == file.path, "“\(url)” has changed")
        }
        guard
            let named = try? Value.dictionary(
                key: "s", value: "s",
                [
                    (.string("Cloud"), .string(folder)),
                    (.string("b"), .string(lines.count > 2 ? lines[2] : "")),
                ]),
            let urls = try? SharedURLs(["SharedFolders": named], here: here)
        else { return }
        if let mapped = urls.url(url).flatMap({ FileURL($0) }) {
            checkPlain(mapped.path)
            let isBeneath = here.folders.contains {
                mapped.path == $0.path || mapped.path.starts(with: $0.path + [slash])
            }
            require(isBeneath, "“\(url)” leads out, to \(mapped.path)")
        }
        if let path = urls.place(ofDocument: url)?.path { checkPlain(Array(path.utf8)) }
        checkUserInfo(url, urls)
    }

    /// Checks that nothing but the URL changes, and never beyond the room that there is.
    private static func checkUserInfo(_ url: String, _ urls: SharedURLs) {
        guard let tagged = try? Value.structure([.string("url"), .variant(.string(url))]),
            let array = try? Value.array(of: "(sv)", [tagged, tagged])
        else { return }
        let userInfo = Value.properties(["a": array, "b": .uint16(1), "c": .variant(tagged)])
        for room in [0, 8, 64, 4096] {
            guard let before = userInfo.properties, let after = urls.mapped(userInfo, room: room).properties
            else { continue }
            require(
                MarshalledSize.ofBody(after) <= MarshalledSize.ofBody(before) + room,
                "“\(url)” takes too much")
            require(after["b"] == .uint16(1) && after.count == 3, "\(after)")
            require(after.mapValues(\.typeSignature) == before.mapValues(\.typeSignature), "\(after)")
        }
    }
}

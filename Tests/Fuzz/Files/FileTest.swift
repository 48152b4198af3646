// SPDX-License-Identifier: LGPL-2.1-or-later
import FuzzSupport
import Glibc
import HandoffCore
import MainLoop

@testable import HandoffBridge
@testable import Platform

/// Files of a user: the configuration and the devices that are trusted.
enum FileTest {
    /// A file that is only in memory, and its path.
    private static let (file, path): (Int32, String) = {
        var name = Array("/dev/shm/handoff-fuzz-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        require(file >= 0 && unlink(name) == 0, "no file")
        return (file, "/proc/self/fd/\(file)")
    }()

    static func run(_ bytes: [UInt8]) {
        require(ftruncate(file, 0) == 0 && pwrite(file, bytes, bytes.count, 0) == bytes.count, "no file")
        _ = try? MainLoop.assumeIsolated { try BridgeSettings(path).port }
        let text = String(decoding: bytes, as: UTF8.self)
        _ = MachineInformation.value(of: "CHASSIS", in: text)
        if let address = NetworkAddress(text) {
            require(NetworkAddress(address.description) == address, "“\(text)” is not \(address)")
        }
        checkKeeping(text)
        guard let loaded = try? KeyFile.load(path) else { return }
        _ = try? (loaded.boolean("Enabled", in: "Handoff"), loaded.strings("Enabled", in: "Handoff"))
        let again = require("what was read is refused") { try KeyFile(text: loaded.text) }
        require(again.groups == loaded.groups, "\(again.groups) were \(loaded.groups)")
        require(!again.hasRepeatedGroups, "a group comes twice: \(loaded.text)")
        if let group = loaded.groups.last, let twice = try? KeyFile(text: "\(loaded.text)\n\t[\(group)] \r\n")
        {
            require(twice.hasRepeatedGroups, "[\(group)] is not taken for the same: \(loaded.text)")
        }
        checkTrust(loaded)
        checkChoices(loaded)
    }

    /// Checks that what counts as a choice of the user's is one, and is found again as it is written.
    private static func checkChoices(_ loaded: KeyFile) {
        _ = (try? loaded.string("Offers", in: "Notifications")).flatMap { $0 }.map { try? OfferNotices($0) }
        _ = try? loaded.boolean("Continued", in: "Notifications")
        let file = KeyFile()
        if let texts = try? loaded.strings("ExcludedApplications", in: "Handoff"),
            let excluded = try? ExcludedApplications(texts)
        {
            require(excluded.ids.count <= ExcludedApplications.maximumCount, "\(excluded.ids.count) excluded")
            file.set("ExcludedApplications", in: "Handoff", to: excluded.texts)
            let again = require("the ids are refused") {
                try file.strings("ExcludedApplications", in: "Handoff")
            }
            require(again == excluded.texts, "\(again ?? []) were \(excluded.texts)")
        }
        if let texts = try? loaded.strings("Disabled", in: "Adapters"),
            let names = try? AdapterName.set(texts)
        {
            file.set("Disabled", in: "Adapters", to: names.sorted().map(\.description))
            let again = require("the names are refused") { try file.strings("Disabled", in: "Adapters") }
            require(again == names.sorted().map(\.description), "\(again ?? []) were \(names)")
        }
        checkFolder((try? loaded.string("Folder", in: "Documents")).flatMap { $0 } ?? "")
    }

    private static func checkFolder(_ text: String) {
        guard let folder = try? DocumentsFolder(text, home: "/home/me") else { return }
        let again = require("\(folder.path) is refused") { try DocumentsFolder(folder.path, home: "/") }
        require(again.path == folder.path, "\(again) was \(folder)")
        let (above, name) = DocumentsFolder.parts(of: folder.path)
        require(
            !name.isEmpty && !name.utf8.contains(UInt8(ascii: "/")) && name != "." && name != "..",
            "\(folder) is called “\(name)”")
        require(
            (above == "/" ? "" : above) + "/\(name)" == folder.path, "\(above) and \(name) are not \(folder)")
    }

    /// Checks that whatever a user enters is kept as it is, except for what no key file can hold.
    private static func checkKeeping(_ text: String) {
        guard !text.utf8.contains(0), text.utf8.first != UInt8(ascii: "\u{C}") else { return }
        let file = KeyFile()
        file.set("Name", in: "Device", to: text)
        file.set("Names", in: "Device", to: [text, "a;b", text])
        let read = require("what was written is refused") { try KeyFile(text: file.text) }
        let name = require("the name is refused") { try read.string("Name", in: "Device") }
        require(name == text, "“\(name ?? "")” was “\(text)”")
        let names = require("the names are refused") { try read.strings("Names", in: "Device") }
        require(names == [text, "a;b", text], "\(names ?? []) were “\(text)”")
    }

    private static func checkTrust(_ file: KeyFile) {
        guard let contents = try? TrustFile.parse(file) else { return }
        let entries = contents.entries
        require(entries.count <= TrustStore.maximumPeers, "\(entries.count) devices")
        require(Set(entries.map(\.device)).count == entries.count, "a device comes twice")
        for entry in entries { require(entry.places(at: .max).count <= LinkHello.maximumPlaces, "\(entry)") }
        let text = TrustFile.render(entries, contents.tombstones, contents.declined).text
        let again = require("\(text) is refused") { try TrustFile.parse(KeyFile(text: text)) }
        require(Set(again.entries) == Set(entries), "\(again) were \(contents)")
        require(again.tombstones == contents.tombstones, "\(again) were \(contents)")
        // Every cut is noticed, except the loss of the last line break. The file that was read determines
        // where to cut.
        let length = file.text.utf8.reduce(0) { $0 &* 31 &+ Int($1) }.magnitude % UInt(text.utf8.count - 1)
        let cut = String(decoding: text.utf8.prefix(Int(length)), as: UTF8.self)
        let isNoticed = (try? TrustFile.parse(KeyFile(text: cut))) == nil
        require(isNoticed, "a cut goes unnoticed: \(cut)")
    }
}

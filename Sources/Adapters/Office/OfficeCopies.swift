// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import Glibc
internal import HandoffInterfaces
internal import Platform

/// The copies of documents that were not saved, each in a folder of its own that only this user can read, in the folder of this
/// process.
struct OfficeCopies: Sendable {
    private let own: String
    /// The folders of copies that may still be wanted, the latest last.
    private var folders: [String] = []
    private var last = 0

    /// How large a copy may be to go along, in bytes.
    static let maximumSize = 32 << 20
    /// How many may be wanted at a time: each by another device.
    private static let maximum = 4

    private static var all: String { "\(UserDirectories.runtime)/handoff/office" }

    /// There are none yet.
    init() { own = "\(Self.all)/\(getpid())" }

    /// The URL under which a document is offered that no file holds: that of no file, with the ending that its copy will have.
    func placeholder(for state: OfficeState) -> String? {
        FileURL.text(Array("\(own)/\(last)/document.\(state.application.ending)".utf8))
    }

    /// Where the next copy is to be, and the folders that are not needed any more.
    mutating func next() -> (folder: String, old: [String]) {
        last += 1
        let folder = "\(own)/\(last)"
        folders.append(folder)
        let old = Array(folders.dropLast(Self.maximum))
        folders.removeFirst(old.count)
        return (folder, old)
    }

    /// No copy is needed any more: the folders to be removed.
    mutating func forget() -> [String] {
        defer { folders = [] }
        return folders + [own]
    }

    /// Makes `folder`, and removes `old` ones. This may block.
    static func make(_ folder: String, removing old: [String]) throws(KeyFileError) {
        for former in old { remove(former) }
        try SmallFile.makeFolder(of: "\(folder)/copy")
    }

    /// Removes `folders`, and what is in them. This may block.
    static func remove(_ folders: [String]) { for folder in folders { remove(folder) } }

    /// Removes what processes have left that have ended. This may block.
    static func sweep() {
        for name in FolderNames.all(in: all) {
            guard let process = Int32(name), kill(process, 0) != 0, isOwn("\(all)/\(name)") else { continue }
            for folder in FolderNames.all(in: "\(all)/\(name)") { remove("\(all)/\(name)/\(folder)") }
            remove("\(all)/\(name)")
        }
    }

    /// The copy at `path`, as a URL; nil unless it is a document in `folder` that may go along, and no other file under another
    /// name. This may block.
    static func url(_ path: String, in folder: String) -> String? {
        guard UserFile.isUsable(path), isOwn(folder), path.utf8.starts(with: "\(folder)/".utf8),
            !path.utf8.dropFirst(folder.utf8.count + 1).contains(UInt8(ascii: "/")),
            let mark = OfficeTask.FileMark(path), mark.size <= maximumSize, OfficeTask.format(of: path) != nil
        else { return nil }
        return FileURL.text(Array(path.utf8))
    }

    /// Whether there is a folder of this user's at `path` itself, and no link.
    private static func isOwn(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == getuid()
    }

    private static func remove(_ folder: String) {
        guard isOwn(folder) else {
            unlink(folder)
            return
        }
        for name in FolderNames.all(in: folder) { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }
}

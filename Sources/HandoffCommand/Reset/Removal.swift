// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import Platform

/// Files and folders that are removed for good, without ever following a link; and what could not be removed.
struct Removal {
    /// What is still there, and why, for people.
    private(set) var failures: [String] = []

    /// No folder of Handoff's is nearly as deep.
    private static let maximumDepth = 16

    /// Removes what is at `path`, and if that is a folder, everything in it. A link is removed, and what it leads to stays.
    /// If there is nothing, that is as good.
    mutating func remove(_ path: String) {
        remove(Array(path.utf8CString), in: AT_FDCWD, called: path, depth: 0)
    }

    /// Removes from `folder` what has a name that `isOurs`, and the folder itself if it is empty then: the user may keep
    /// something of his own there.
    mutating func remove(from folder: String, named isOurs: (String) -> Bool) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return note(errno, folder) }
        for name in names(in: descriptor, called: folder) {
            let text = Self.text(name)
            guard isOurs(text) else { continue }
            remove(name, in: descriptor, called: "\(folder)/\(text)", depth: 1)
        }
        close(descriptor)
        removeIfEmpty(folder)
    }

    /// Removes the folder at `path` if nothing is in it.
    func removeIfEmpty(_ path: String) { rmdir(path) }

    /// - Parameter name: as it is on the disk, which need not be any text, with a zero at its end.
    private mutating func remove(_ name: [CChar], in parent: Int32, called path: String, depth: Int) {
        if unlinkat(parent, name, 0) == 0 { return }
        guard errno == EISDIR else { return note(errno, path) }
        guard depth < Self.maximumDepth else {
            failures.append(
                tr(
                    "{path} could not be removed: it is deeper than anything of Handoff's.",
                    ["path": path.shown]))
            return
        }
        let before = failures.count
        let descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return note(errno, path) }
        for inner in names(in: descriptor, called: path) {
            remove(inner, in: descriptor, called: "\(path)/\(Self.text(inner))", depth: depth + 1)
        }
        close(descriptor)
        // What is still in it has been told already.
        guard failures.count == before else { return }
        if unlinkat(parent, name, AT_REMOVEDIR) != 0 { note(errno, path) }
    }

    private mutating func names(in folder: Int32, called path: String) -> [[CChar]] {
        // The stream closes the descriptor that it is given.
        let own = fcntl(folder, F_DUPFD_CLOEXEC, 0)
        guard own >= 0, let directory = fdopendir(own) else {
            note(errno, path)
            if own >= 0 { close(own) }
            return []
        }
        defer { closedir(directory) }
        var names: [[CChar]] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1))
                }
            }
            if ![".", ".."].contains(Self.text(name)) { names.append(name) }
        }
        return names
    }

    /// `name` for people.
    private static func text(_ name: [CChar]) -> String {
        String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private mutating func note(_ number: Int32, _ path: String) {
        if number == ENOENT || number == ENOTDIR { return }
        failures.append(
            tr(
                "{path} could not be removed: {reason}.",
                ["path": path.shown, "reason": SystemError.text(number)]))
    }
}

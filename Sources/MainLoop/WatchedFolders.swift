// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// Folders that are watched for files that come, go and change (inotify(7)), including folders that do not exist
/// yet. What happens is kept from the moment on that this is made, for a ``FolderWatch`` to tell.
package final class WatchedFolders: Sendable {
    private let inotify: Inotify
    /// What counts in a watched folder: nil if everything does, otherwise the names that are waited for.
    private let names: [Int32: Set<String>?]

    var descriptor: Int32 { inotify.descriptor }

    /// Watches these folders, and of the folders that `files` are in only what concerns those. This blocks as
    /// long as a file system does not answer.
    ///
    /// Nil if there is no descriptor left for that.
    package convenience init?(_ folders: [String], files: [String] = []) {
        guard var beginning = Beginning() else { return nil }
        beginning.watch(folders, files: files)
        self.init(beginning)
    }

    /// Watches what has been begun to be watched.
    package init(_ beginning: Beginning) { (inotify, names) = (beginning.inotify, beginning.names) }

    /// A descriptor that closes itself.
    fileprivate final class Inotify: Sendable {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))

        deinit { if descriptor >= 0 { close(descriptor) } }
    }

    /// Folders that are watched already, while others are still to come. What happens in them is kept.
    package struct Beginning {
        fileprivate let inotify = Inotify()
        fileprivate private(set) var names: [Int32: Set<String>?] = [:]

        /// Nothing is watched yet.
        ///
        /// Nil if there is no descriptor left.
        package init?() { if inotify.descriptor < 0 { return nil } }

        /// Watches these folders too, and of the folders that `files` are in what concerns those. This blocks as
        /// long as a file system does not answer.
        package mutating func watch(_ folders: [String], files: [String] = []) {
            for folder in folders { watch(folder, waitingFor: nil) }
            for file in files { watchParent(of: file) }
        }

        /// Watches `folder`, or if it does not exist, the nearest one above it that does.
        private mutating func watch(_ folder: String, waitingFor name: String?) {
            let changes =
                IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE_SELF
                | IN_MOVE_SELF
            let number = inotify_add_watch(
                inotify.descriptor, folder, UInt32(changes) | UInt32(IN_ONLYDIR))
            guard number < 0 else {
                // Where everything counts, any names do as well.
                let others = names[number, default: []]
                names[number] = .some(name.flatMap { others?.union([$0]) })
                return
            }
            watchParent(of: folder)
        }

        /// Watches the folder that `path` is in for what concerns `path`.
        private mutating func watchParent(of path: String) {
            let parts = path.split(separator: "/", omittingEmptySubsequences: true)
            guard let last = parts.last, path.hasPrefix("/") else { return }
            watch("/" + parts.dropLast().joined(separator: "/"), waitingFor: String(last))
        }
    }

    /// Whether one of these events counts.
    func isConcerned(by events: ArraySlice<UInt8>) -> Bool {
        let header = MemoryLayout<inotify_event>.size
        var rest = events
        var isConcerned = false
        while rest.count >= header {
            let event = rest.withUnsafeBytes { $0.loadUnaligned(as: inotify_event.self) }
            let name = String(
                decoding: rest.dropFirst(header).prefix(Int(event.len)).prefix { $0 != 0 }, as: UTF8.self)
            rest = rest.dropFirst(header + Int(event.len))
            guard let expected = names[event.wd] else {
                // There were too many events at once, so anything may have changed.
                if event.wd < 0 { isConcerned = true }
                continue
            }
            if expected.map({ $0.contains(name) || event.len == 0 }) ?? true { isConcerned = true }
        }
        return isConcerned
    }
}

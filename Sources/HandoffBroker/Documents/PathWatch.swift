// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import Platform

/// Tells a thread when something happens to the file at a path, or to the folders that lead to it, which may be missing
/// (inotify(7)). FolderWatch is not for this: even to watch a folder may block, so that it is not done on the main loop.
final class PathWatch {
    private let descriptor: FileDescriptor
    private let folders: [String]
    /// What counts in the folder that is watched.
    private var name = ""
    private var watch: Int32 = -1

    private static let changes =
        IN_CREATE | IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE
        | IN_DELETE_SELF
        | IN_MOVE_SELF | IN_ONLYDIR

    /// For the file at `path`, which is absolute; nil if the system has no descriptor left.
    init?(_ path: String) {
        let number = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard number >= 0 else { return nil }
        descriptor = FileDescriptor(owning: number)
        folders = path.split(separator: "/").map { String($0) }
    }

    /// Watches the folder of the file, or the nearest one above it that there is.
    func renew() {
        guard var count = folders.indices.last(where: { watchFolder($0) }) else { return }
        // The next one may have come between the two looks. From now on, that would be told.
        while count < folders.count - 1, watchFolder(count + 1) { count += 1 }
    }

    /// Watches the folder that the first `count` names lead to, and nothing else.
    /// - Returns: whether there is one.
    private func watchFolder(_ count: Int) -> Bool {
        let folder = "/" + folders[..<count].joined(separator: "/")
        let new = inotify_add_watch(descriptor.number, folder, UInt32(Self.changes))
        guard new >= 0 else { return false }
        if watch >= 0, watch != new { _ = inotify_rm_watch(descriptor.number, watch) }
        (watch, name) = (new, folders[count])
        return true
    }

    /// Waits until something has happened, or `time` has passed.
    /// - Returns: false if the signal was given.
    func wait(unless stop: StopSignal, atMost time: Duration?) -> Bool {
        while true {
            if let time {
                switch stop.wait(descriptor.number, Int16(POLLIN), atMost: time) {
                case .stopped: return false
                case .timedOut: return true
                case .ready: break
                }
            } else if !stop.wait(descriptor.number, Int16(POLLIN)) {
                return false
            }
            if read() { return true }
        }
    }

    /// Takes the events that there are.
    /// - Returns: whether one of them counts.
    private func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 8192)
        var isConcerned = false
        while true {
            let count = Glibc.read(descriptor.number, &buffer, buffer.count)
            guard count > 0 else { return isConcerned }
            var rest = buffer[..<count]
            let header = MemoryLayout<inotify_event>.size
            while rest.count >= header {
                let event = rest.withUnsafeBytes { $0.loadUnaligned(as: inotify_event.self) }
                let text = rest.dropFirst(header).prefix(Int(event.len)).prefix { $0 != 0 }
                rest = rest.dropFirst(header + Int(event.len))
                // Too many at once, or the folder itself, have no name.
                if event.len == 0 || text.elementsEqual(name.utf8) { isConcerned = true }
            }
        }
    }
}

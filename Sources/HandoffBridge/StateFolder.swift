// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import Glibc
internal import MainLoop

/// Why the bridge cannot run, for people: what is wrong, where, and what to do.
struct StartFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The folder that holds this device's key, certificate and trust. One bridge at a time may write in it.
@MainLoop
final class StateFolder {
    /// Where it is.
    nonisolated let path: String
    private var lock: FileDescriptor?

    /// The folder at `path`, which is made when it is locked.
    nonisolated init(_ path: String) { self.path = path }

    /// Whether it is ours.
    private(set) var isLocked = false

    /// Makes the folder if it is missing, and keeps others out of it until this is freed.
    /// - Parameter patience: how long to wait, blocking, for another bridge that is about to end.
    /// - Throws: ``StateFolderTaken`` if another bridge has it.
    func lock(patience: Duration = .zero) throws {
        let file = file("lock")
        try SmallFile.makeFolder(of: file)
        let number = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else {
            throw StartFailure("\(file) cannot be opened: \(String(cString: strerror(errno))).")
        }
        lock = FileDescriptor(owning: number)
        let end = MainLoop.now + patience.components.seconds * 1_000_000
        while flock(number, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw StartFailure("\(file) cannot be locked: \(String(cString: strerror(errno))).")
            }
            guard MainLoop.now < end else { throw StateFolderTaken(path: path) }
            g_usleep(10_000)
        }
        isLocked = true
    }

    /// Lets others have it.
    func unlock() {
        lock = nil
        isLocked = false
    }

    /// The path of `name` in it.
    nonisolated func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Renames what is at `path`, so that it is kept but no longer used.
    /// - Returns: the new path; nil if there is nothing at `path`.
    nonisolated static func setAside(_ path: String) throws -> String? {
        let aside = "\(path).damaged-\(MainLoop.wallClock / 1_000_000)"
        if rename(path, aside) == 0 { return aside }
        if errno == ENOENT { return nil }
        throw StartFailure("\(path) is damaged and cannot be renamed: \(String(cString: strerror(errno))).")
    }
}

/// Another bridge has the state folder.
struct StateFolderTaken: Error, CustomStringConvertible {
    let path: String

    var description: String {
        "Another bridge is using \(path). End it, or give this one a state folder of its own (XDG_STATE_HOME)."
    }
}

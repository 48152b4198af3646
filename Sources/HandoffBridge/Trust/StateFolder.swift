// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import Glibc
internal import HandoffSession
internal import MainLoop
internal import Platform

/// The folder that holds this device's key, certificate and trust. One bridge at a time may write in it, and
/// other users may do nothing with it. If they could, that is put right, or else the folder is not used.
@MainLoop
final class StateFolder {
    /// The path of the folder.
    nonisolated let path: String
    private var folder: FileDescriptor?
    private var lock: FileDescriptor?

    private static let lockName = HandoffDirectories.lockName

    /// The folder at `path`, which is made when it is locked.
    nonisolated init(_ path: String) { self.path = path }

    /// Whether this bridge has locked the folder.
    private(set) var isLocked = false

    /// Makes the folder if it is missing, and keeps others out of it until this is freed.
    /// - Parameter patience: how long to wait, blocking, for another bridge that is about to end.
    /// - Throws: ``StateFolderTaken`` if another bridge has it; ``UnsafeFile``.
    func lock(patience: Duration = .zero) throws {
        let file = file(Self.lockName)
        let number = try open(Self.lockName, O_RDWR | O_CREAT)
        guard number >= 0 else {
            throw StartFailure("\(file) cannot be opened: \(SystemError.last).")
        }
        lock = FileDescriptor(owning: number)
        try restrict(number, file, "Others could keep a bridge from starting.")
        let end = MainLoop.now + patience.components.seconds * 1_000_000
        while flock(number, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw StartFailure("\(file) cannot be locked: \(SystemError.last).")
            }
            guard MainLoop.now < end else { throw StateFolderTaken(path: path) }
            g_usleep(10_000)
        }
        isLocked = true
        removeUnfinished()
    }

    /// Removes what a bridge has left that was killed while it wrote: g_file_set_contents_full() writes to a file with a dot and
    /// six more characters in its name, and what is in there might be kept for nobody, for ever.
    private func removeUnfinished() {
        guard let entries = opendir(path) else { return }
        defer { closedir(entries) }
        let written = [Identity.fileName, TrustStore.fileName, HandoffDirectories.outboxName]
        while let name = FolderNames.next(in: entries) {
            guard let file = written.first(where: { name.hasPrefix($0 + ".") }),
                name.utf8.count == file.utf8.count + 7, let folder = folder?.number
            else { continue }
            if unlinkat(folder, name, 0) == 0 {
                bridgeLog.info("\(self.file(name)) is removed, which was not written to its end.")
            }
        }
    }

    // MARK: What is in it

    /// The bytes of the file `name`.
    /// - Parameter risk: what it means for the user if others could read or change it, and what to do about that.
    /// - Returns: nil if there is none.
    /// - Throws: ``UnsafeFile`` if others may change it and that cannot be put right; otherwise what
    ///   ``SmallFile/read(_:maximumSize:)`` throws.
    func read(
        _ name: String, maximumSize: Int = KeyFile.defaultMaximumSize, risk: String
    ) throws -> [UInt8]? {
        let file = file(name)
        // Opening must not block, since a pipe may be in the place of the file.
        let number = try open(name, O_RDONLY | O_NONBLOCK)
        guard number >= 0 else {
            if errno == ENOENT { return nil }
            throw UnsafeFile(description: "\(file) cannot be read: \(SystemError.last).")
        }
        let descriptor = FileDescriptor(owning: number)
        guard try FileRights(of: descriptor.number, file).isFile else {
            throw UnsafeFile(description: "\(file) is not a regular file. Move it away.")
        }
        try restrict(descriptor.number, file, risk)
        return try SmallFile.read(descriptor.number, file, maximumSize: maximumSize)
    }

    private func open(_ name: String, _ flags: Int32) throws -> Int32 {
        let number = openat(try descriptor(), name, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if number < 0, errno == ELOOP {
            throw UnsafeFile(
                description:
                    "\(file(name)) is a link, and others may decide what is at its end. Put the file itself"
                    + " there, or move the link away.")
        }
        return number
    }

    private func restrict(_ descriptor: Int32, _ path: String, _ risk: String, to mode: mode_t = 0o600) throws
    {
        let rights = try FileRights(of: descriptor, path)
        if let news = try rights.restrict(descriptor, to: mode, risk: risk) { bridgeLog.warning("\(news)") }
    }

    /// The open folder, which is made and checked the first time.
    private func descriptor() throws -> Int32 {
        if let number = folder?.number { return number }
        try SmallFile.makeFolder(of: file(Self.lockName))
        let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard number >= 0 else {
            let isLink = errno == ELOOP || errno == ENOTDIR
            throw UnsafeFile(
                description: isLink
                    ? "\(path) is a link or a file, and no folder. Put the folder itself there, or move it away."
                    : "\(path) cannot be opened: \(SystemError.last).")
        }
        let descriptor = FileDescriptor(owning: number)
        try restrict(
            number, path,
            "Others could read and replace the key and the list of peers. If somebody may have done so, unpair this"
                + " device on its peers, remove the folder, and pair again.", to: 0o700)
        try checkAbove(number)
        folder = .some(consume descriptor)
        return number
    }

    /// Throws if somebody else could put another folder in the place of this one: by way of the folders on
    /// its path, or, if a symbolic link leads there, of those that it really is in.
    private func checkAbove(_ folder: Int32) throws {
        for name in Self.parents(of: path) { try checkParent(name, from: AT_FDCWD, called: name) }
        // The check goes upwards from the open folder, since what a path leads to may change meanwhile.
        guard let real = realpath(path, nil) else { return }
        defer { free(real) }
        var steps = ".."
        for name in Self.parents(of: String(cString: real)) {
            try checkParent(steps, from: folder, called: name)
            steps += "/.."
        }
    }

    private func checkParent(_ place: String, from folder: Int32, called name: String) throws {
        var status = stat()
        guard fstatat(folder, place, &status, 0) == 0 else {
            throw UnsafeFile(description: "\(name) cannot be looked at: \(SystemError.last).")
        }
        try FileRights(status, name).checkNobodyElseReplaces(what: path)
    }

    /// The folders above `path`, the nearest first.
    private static func parents(of path: String) -> [String] {
        var (rest, parents): (Substring, [String]) = (path[...], [])
        while let slash = rest.lastIndex(of: "/") {
            rest = rest[..<slash]
            parents.append(rest.isEmpty ? "/" : String(rest))
        }
        return parents
    }

    // MARK: Ending

    /// Lets others have the folder.
    func unlock() {
        lock = nil
        isLocked = false
    }

    /// The path of the file `name` in the folder.
    nonisolated func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Renames what is at `path`, so that it is kept but no longer used.
    /// - Returns: the new path; nil if there is nothing at `path`.
    nonisolated static func setAside(_ path: String) throws -> String? {
        let aside = "\(path).damaged-\(MainLoop.wallClock / 1_000_000)"
        if rename(path, aside) == 0 { return aside }
        if errno == ENOENT { return nil }
        throw StartFailure("\(path) is damaged and cannot be renamed: \(SystemError.last).")
    }
}

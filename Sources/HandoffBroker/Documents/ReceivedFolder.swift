// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import Glibc
internal import HandoffCore
internal import Platform

/// The folder that documents from peers are placed in: the one that the user has chosen, or `Handoff` in the user's folder
/// for downloads. Everything that is done in it is done through its descriptor, so that nobody can lead that elsewhere
/// meanwhile. This is not for the main loop: the folder may be on a file system that hangs.
final class ReceivedFolder: Sendable {
    /// Where it is, for people and for URLs.
    let path: String
    /// Its descriptor.
    let descriptor: FileDescriptor

    /// Opens the folder at `path`, an absolute path, and makes what is missing. The folder that it is in may be one that
    /// the user has put elsewhere by a link; itself it must be none.
    /// - Throws: if it cannot be used: what is wrong, and what to do.
    init(at path: String) throws(HandoffFailure) {
        self.path = path
        let (folder, name) = DocumentsFolder.parts(of: path)
        guard g_mkdir_with_parents(folder, 0o700) == 0 else {
            throw Self.unusable(folder, "cannot be made: \(SystemError.last)")
        }
        // It is not read, which it may not allow if it is somebody else's.
        let above = Glibc.open(folder, Self.pathOnly | O_DIRECTORY | O_CLOEXEC)
        guard above >= 0 else { throw Self.unusable(folder, "cannot be opened: \(SystemError.last)") }
        defer { close(above) }
        guard mkdirat(above, name, 0o700) == 0 || errno == EEXIST else {
            throw Self.unusable(path, "cannot be made: \(SystemError.last)")
        }
        let number = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else {
            // A link and a directory are asked for by contradicting flags, so that either error may come.
            let isOther = errno == ELOOP || errno == ENOTDIR
            throw Self.unusable(
                path, isOther ? "is not a folder, or is a link" : "cannot be opened: \(SystemError.last)")
        }
        descriptor = FileDescriptor(owning: number)
        try checkOwner()
    }

    /// The folder at `path`, nil if there is none yet, or it cannot be used.
    init?(existingAt path: String) {
        self.path = path
        let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { return nil }
        descriptor = FileDescriptor(owning: number)
        guard (try? checkOwner()) != nil else { return nil }
    }

    /// `O_PATH` (open(2)), which the C module lacks: such a descriptor only says which folder is meant.
    private static let pathOnly: Int32 = 0o10000000

    /// Whoever else could write in it could put something else in the place of a document.
    private func checkOwner() throws(HandoffFailure) {
        var status = stat()
        guard fstat(descriptor.number, &status) == 0 else {
            throw Self.unusable(path, "cannot be examined: \(SystemError.last)")
        }
        guard status.st_uid == geteuid() else { throw Self.unusable(path, "belongs to another user") }
        guard status.st_mode & S_IWOTH == 0 || status.st_mode & S_ISVTX != 0 else {
            throw Self.unusable(path, "can be written to by everybody (chmod o-w)")
        }
    }

    private static func unusable(_ path: String, _ why: String) -> HandoffFailure {
        HandoffFailure(
            .accessDenied,
            "Documents from other devices cannot be placed in \(PeerText.message(path)): it \(why). Put that right,"
                + " or choose another folder for them (DocumentsFolder in the settings), then try again.")
    }

    /// Where it really is, without any link; nil if that is not known.
    var realPath: String? { FoundFile.path(of: descriptor.number) }

    // MARK: Space

    /// How much has to stay free for everything else: this much, or a twentieth of a small disk.
    private static let reserve: UInt64 = 64 << 20

    /// How many bytes a document may still have.
    var room: UInt64 {
        var status = statvfs()
        guard fstatvfs(descriptor.number, &status) == 0 else { return .max }
        let block = UInt64(status.f_frsize)
        let reserve = min(Self.reserve, UInt64(status.f_blocks) / 20 * block)
        let free = UInt64(status.f_bavail).multipliedReportingOverflow(by: block)
        guard !free.overflow else { return .max }
        return free.partialValue > reserve ? free.partialValue - reserve : 0
    }

    /// How many bytes the name of a file may have in it.
    var maximumName: Int {
        var status = statvfs()
        guard fstatvfs(descriptor.number, &status) == 0 else { return DocumentName.maximumBytes }
        return Int(clamping: status.f_namemax)
    }

    // MARK: Files

    /// Makes what has changed in the folder last.
    /// - Returns: whether that succeeded.
    func sync() -> Bool { fsync(descriptor.number) == 0 || errno == EINVAL }

    /// Opens the file `name`; negative if that fails.
    func open(_ name: String, _ flags: Int32) -> Int32 {
        openat(descriptor.number, name, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
    }

    /// Removes `document`, if it was placed here for its continuation and is as it was left.
    func remove(_ document: PlacedDocument) {
        guard document.isNew, document.folder == path,
            FileIdentity(document.name, in: descriptor.number) == document.identity
        else { return }
        unlinkat(descriptor.number, document.name, 0)
    }

    /// The file `name`, if it is a file whose content is that of `other`, which has `count` bytes.
    func same(as other: borrowing FileDescriptor, count: UInt64, _ name: String) -> FileIdentity? {
        // It may be anything, a pipe too.
        let number = open(name, O_RDONLY | O_NONBLOCK)
        guard number >= 0 else { return nil }
        let file = FileDescriptor(owning: number)
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            UInt64(clamping: status.st_size) == count, let identity = FileIdentity(of: file.number),
            Self.areEqual(file.number, other.number)
        else { return nil }
        return identity
    }

    private static func areEqual(_ one: Int32, _ other: Int32) -> Bool {
        let size = 64 << 10
        var (mine, theirs) = ([UInt8](repeating: 0, count: size), [UInt8](repeating: 0, count: size))
        var place = 0
        while true {
            let (read, read2) = (pread(one, &mine, size, place), pread(other, &theirs, size, place))
            guard read >= 0, read == read2, mine == theirs else { return false }
            if read == 0 { return true }
            place += read
        }
    }
}

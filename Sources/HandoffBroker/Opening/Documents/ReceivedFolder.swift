// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import Glibc
internal import HandoffCore
internal import Platform

/// The folder that documents from peers are placed in: `Handoff` in the user's folder for downloads. Everything that
/// is done in it is done through its descriptor, so that nobody can lead that elsewhere meanwhile. This is not for the
/// main loop: the folder may be on a file system that hangs.
final class ReceivedFolder: Sendable {
    /// Where it is, for people and for URLs.
    let path: String
    /// Its descriptor.
    let descriptor: FileDescriptor

    /// What it is called in the folder for downloads.
    static let name = "Handoff"

    /// Where it is or would be: `Handoff` in the folder for downloads of `xdg-user-dirs`, or else in the home folder.
    static var path: String { "\(UserDirectories.downloads)/\(name)" }

    /// Opens the folder below `downloads`, which the user may have put elsewhere by a link, and makes what is missing.
    /// - Throws: if it cannot be used: what is wrong, and what to do.
    init(in downloads: String = UserDirectories.downloads) throws(HandoffFailure) {
        let path = "\(downloads)/\(Self.name)"
        self.path = path
        guard g_mkdir_with_parents(downloads, 0o700) == 0 else {
            throw Self.unusable(downloads, "cannot be made: \(SystemError.last)")
        }
        let above = Glibc.open(downloads, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard above >= 0 else { throw Self.unusable(downloads, "cannot be opened: \(SystemError.last)") }
        defer { close(above) }
        guard mkdirat(above, Self.name, 0o700) == 0 || errno == EEXIST else {
            throw Self.unusable(path, "cannot be made: \(SystemError.last)")
        }
        let number = openat(above, Self.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else {
            // A link and a directory are asked for by contradicting flags, so that either error may come.
            let isOther = errno == ELOOP || errno == ENOTDIR
            throw Self.unusable(
                path, isOther ? "is not a folder, or is a link" : "cannot be opened: \(SystemError.last)")
        }
        descriptor = FileDescriptor(owning: number)
        try checkOwner()
    }

    /// The folder below `downloads`, nil if there is none yet, or it cannot be used.
    init?(existingIn downloads: String) {
        path = "\(downloads)/\(Self.name)"
        let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { return nil }
        descriptor = FileDescriptor(owning: number)
        guard (try? checkOwner()) != nil else { return nil }
    }

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
                + " then try again.")
    }

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

    /// Removes the file `name` if it is still `identity`.
    func remove(_ name: String, ifStill identity: FileIdentity) {
        guard FileIdentity(name, in: descriptor.number) == identity else { return }
        unlinkat(descriptor.number, name, 0)
    }
}

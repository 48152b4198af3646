// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import Glibc
internal import HandoffCore
internal import Platform

/// A file of which this device knows by which id it goes from device to device, as it is when that document comes again.
final class KnownFile: Sendable {
    /// Its path, in which there is no link.
    let path: String
    /// The folder that it is in.
    let folder: ReceivedFolder
    /// Its name there.
    let name: String
    /// Which file it is, and in which state.
    let identity: FileIdentity
    /// What tells its content from another one; ``ContentMark/unread(size:)`` if that is none that anybody asks about.
    let mark: ContentMark
    /// Its rights.
    let mode: mode_t
    private let group: gid_t
    private let isReplaceable: Bool
    private let statusChange: [Int]
    private let file: FileDescriptor

    /// How many bytes are read to find out what the content is: reading more takes longer than anybody waits.
    private static let maximumSize: UInt64 = 256 << 20

    /// Looks at the file. It has to be a regular one of this user's, exactly where it is known to be: by way of a link, or in a
    /// folder that everybody can write to, it is not the one that was handed off.
    /// - Parameter sizes: how many bytes the contents have that are asked about; a file of another size is not read.
    init?(at path: String, _ sizes: Set<UInt64>) {
        let (above, name) = DocumentsFolder.parts(of: path)
        guard let folder = ReceivedFolder(existingAt: above), folder.realPath == above else { return nil }
        // It may be anything by now, a pipe too.
        let number = folder.open(name, O_RDONLY | O_NONBLOCK)
        guard number >= 0 else { return nil }
        let file = FileDescriptor(owning: number)
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid()
        else { return nil }
        let size = UInt64(clamping: status.st_size)
        let isAsked = sizes.contains(size) && size <= Self.maximumSize
        mark = (isAsked ? Self.mark(of: file.number) : nil) ?? .unread(size: size)
        (self.path, self.folder, self.name) = (path, folder, name)
        // What is written while it is read makes another state of it.
        identity = FileIdentity(status)
        statusChange = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
        (mode, group) = (status.st_mode & 0o666, status.st_gid)
        // What has a list of rights of its own would lose that.
        isReplaceable =
            status.st_mode & S_IWUSR != 0 && status.st_nlink == 1
            && !handoff_has_access_list(file.number)
        self.file = file
    }

    /// Whether the open file `other` may take its place: its user may write to it, it has no other name, no program has it open for
    /// writing, and nothing has happened to it since.
    func mayBeReplaced(by other: Int32) -> Bool {
        var (status, theirs) = (stat(), stat())
        return isReplaceable && !handoff_is_written_to(file.number) && fstat(file.number, &status) == 0
            && fstat(other, &theirs) == 0 && theirs.st_gid == group
            && statusChange == [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }

    /// It as it is.
    var placed: PlacedDocument {
        PlacedDocument(
            folder: folder.path, name: name, identity: identity, isNew: false, isWritten: false,
            realPath: path, mark: mark)
    }

    private static func mark(of file: Int32) -> ContentMark? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
        defer { buffer.deallocate() }
        let sha256 = SHA256()
        var size: UInt64 = 0
        while true {
            let count = Glibc.read(file, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            size += UInt64(count)
            // It may grow for as long as it is read.
            guard size <= maximumSize else { return nil }
            sha256.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        let digest = sha256.finish()
        return digest.isEmpty ? nil : ContentMark(Digest.hexadecimal(digest), size: size)
    }
}

/// What is here of a document that comes, as it was looked at just before.
struct KnownFiles: Sendable {
    /// What is known of it.
    let known: KnownDocument
    /// The document itself; nil if it is not where it was.
    let main: KnownFile?
    /// What was placed beside it last; nil if nothing was, or it is not there any more.
    let beside: KnownFile?
    /// Whether they do not answer, so that nothing is known of them.
    let areUnreachable: Bool

    /// Looks at the files, as one with content of `size` bytes comes, if that is known.
    init(_ known: KnownDocument, _ size: UInt64?) {
        self.known = known
        let sizes = Set(known.bases.map(\.size) + [known.beside?.mark.size, size].compactMap(\.self))
        main = KnownFile(at: known.path, sizes)
        beside = known.beside.flatMap { KnownFile(at: $0.path, sizes) }
        areUnreachable = false
    }

    /// Nothing can be found out about the files.
    init(unreachable known: KnownDocument) {
        (self.known, main, beside, areUnreachable) = (known, nil, nil, true)
    }
}

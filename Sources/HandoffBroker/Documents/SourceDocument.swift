// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import Platform

/// A document of this session that is open to be sent: a regular file that its application may read.
///
/// It belongs to background threads: everything but ``about`` may wait for a file system that does not answer.
final class SourceDocument: Sendable {
    /// What a peer is told about it.
    let about: DocumentDescription
    /// Where it is, a path without any link; nil if that is not known, or only its application in a sandbox knows it.
    let path: String?
    /// How many bytes it had when it was opened.
    let size: UInt64
    private let file: FileDescriptor
    private let state: FileState
    /// Whether it may have changed and its state stayed the same.
    let changesUnseen: Bool

    /// How long before it is opened a file must have been changed last, so that its next change has another time:
    /// longer than any file system's clock stands still.
    private static let settlingTime: Int64 = 3_000_000

    /// Opens the document at `url`, which `caller` has named.
    /// - Parameter now: the time by the wall clock, in microseconds since the Unix epoch.
    /// - Throws: why it cannot be brought over, with no more of its path than its name.
    init(_ url: String, of caller: Caller, now: Int64) throws(HandoffFailure) {
        let path = try DocumentPath(url)
        let found = try path.find(for: caller)
        guard let kind = FileState(of: found.number) else { throw path.failure(errno) }
        guard kind.isRegular else { throw path.notAFile }
        let number = FoundFile.open(found.number)
        guard number >= 0 else { throw path.failure(errno) }
        let file = FileDescriptor(owning: number)
        guard FoundFile.isKept(file.number) else { throw path.notKept }
        guard let state = FileState(of: file.number), state.isRegular else { throw path.notAFile }
        self.state = state
        size = UInt64(max(0, state.size))
        changesUnseen = FoundFile.isRemote(file.number) || state.lastChange > now - Self.settlingTime
        about = try DocumentDescription(
            name: path.shownName, size: size, contentType: path.contentType, modified: state.modified)
        self.path = caller.sandbox == nil ? FoundFile.path(of: file.number) : nil
        _ = posix_fadvise(file.number, 0, 0, POSIX_FADV_SEQUENTIAL)
        self.file = file
    }

    /// The content of a clipboard, which nobody can change.
    /// - Throws: if there is no descriptor left for it.
    init(_ content: ClipboardFile) throws(HandoffFailure) {
        file = try content.handedOut()
        guard let state = FileState(of: file.number) else { throw HandoffFailure.clipboardEmpty }
        self.state = state
        (size, changesUnseen, path) = (UInt64(content.size), false, nil)
        about = try DocumentDescription(name: "", size: size, contentType: "", modified: nil)
    }

    /// Reads what is at `offset`.
    /// - Returns: the number of bytes, 0 at the end; negative with `errno` set if that fails.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
        while true {
            let count = pread(file.number, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 || errno != EINTR { return count }
        }
    }

    /// Whether its content is another one by now, as far as its state tells.
    var hasChanged: Bool { FileState(of: file.number)?.hasContent(of: state) != true }

    /// Whether its content may be another one by now all the same. That is also so if anything else about the file has
    /// changed, as when it was replaced by another one of its name.
    var mayHaveChanged: Bool { changesUnseen || FileState(of: file.number) != state }
}

/// What tells one state of a file from the next (stat(2)).
private struct FileState: Equatable {
    let isRegular: Bool
    let size: Int64
    /// When the content was changed, in microseconds since the Unix epoch.
    let modified: Int64
    /// When the content or anything about the file was changed.
    let lastChange: Int64
    private let identity: FileIdentity
    private let statusChange: [Int]

    /// The state of an open file; nil if it cannot be had.
    init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        isRegular = status.st_mode & S_IFMT == S_IFREG
        size = Int64(status.st_size)
        modified = FileTime.microseconds(status.st_mtim)
        lastChange = max(modified, FileTime.microseconds(status.st_ctim))
        identity = FileIdentity(status)
        statusChange = [Int(status.st_ctim.tv_sec), Int(status.st_ctim.tv_nsec)]
    }

    /// Whether nothing tells this content from the other one.
    func hasContent(of other: FileState) -> Bool { identity == other.identity }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import HandoffCore
internal import MainLoop

/// What is found at the path of a shared document.
enum CopyLook: Equatable, Sendable {
    /// The document.
    case current
    /// Something that has just changed, of so many bytes.
    case changing(UInt64)
    /// An older state or a part, of so many bytes.
    case behind(UInt64)
    /// Nothing, or nothing that could be it.
    case missing

    /// Looks at the file at `path`, which may block. A link is not followed: it could lead out of the shared folder.
    static func at(_ path: String, of document: FetchedDocument) -> CopyLook {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return .missing }
        let copy = SynchronisedCopy(
            size: UInt64(clamping: status.st_size), modified: FileTime.microseconds(status.st_mtim))
        switch copy.state(of: document.size, document.modified, now: MainLoop.wallClock) {
        case .current: return .current
        case .changing: return .changing(copy.size)
        case .behind: return .behind(copy.size)
        }
    }
}

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
    /// Nothing that will ever be it: a link leads to where it would be, out of the shared folder.
    case outside

    /// Looks at the file at `path`, which may block. No link is followed that leads out of the document's shared folder:
    /// peers may be able to put links there, and would choose which of the user's other files is handed over.
    static func at(_ path: String, of document: FetchedDocument) -> CopyLook {
        // What is no file of its own, such as a link, is none of those that follow.
        guard let folder = document.sharedFolder, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")),
            !SharedLinks.lead(Array(path.utf8[..<slash]), outOf: Array(folder.utf8))
        else { return .outside }
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

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces

/// Where the document of an activity really is, and what the file system says of it.
struct DocumentPlace: Sendable {
    /// Its URL as the application gave it.
    let url: String
    /// Its path: by way of the shared folder in which it really is, or without any link if that is none.
    let path: [UInt8]
    /// How many bytes it has; nil if that is not known.
    let size: UInt64?
    /// When it was modified, in microseconds since the Unix epoch; nil if that is not known.
    let modified: Int64?

    /// Looks at the document `url` and at `folders`. This waits for the file systems that they are on, which may be for
    /// ever.
    /// - Returns: nil if the URL is none of a file.
    init?(_ url: String, among folders: SharedFolders) {
        guard let file = FileURL(url), file.suffix.isEmpty else { return nil }
        self.url = url
        guard let real = Self.realPath(of: file.path) else {
            // A document that has not been saved yet is where its application wants to put it.
            (path, size, modified) = (file.path, nil, nil)
            return
        }
        path = Self.sharedPath(of: file.path, real, folders)
        var status = stat()
        guard stat(Self.text(path), &status) == 0 else {
            (size, modified) = (nil, nil)
            return
        }
        size = status.st_mode & S_IFMT == S_IFREG ? UInt64(clamping: status.st_size) : nil
        modified = FileTime.microseconds(status.st_mtim)
    }

    /// The path by way of a shared folder of the file that is named `path` and is really at `real`. A folder counts with
    /// what is really in it: a link in it that leads elsewhere is copied nowhere, and one from elsewhere leads into it.
    private static func sharedPath(of path: [UInt8], _ real: [UInt8], _ folders: SharedFolders) -> [UInt8] {
        let places = folders.folders.compactMap { folder in
            realPath(of: folder.path).flatMap { try? SharedFolder(folder.name, at: $0) }
        }
        let item = SharedFolders(chosen: places).item(at: real)
        return item.flatMap { folders.path(of: $0) } ?? real
    }

    private static func realPath(of path: [UInt8]) -> [UInt8]? {
        let real = realpath(text(path), nil)
        guard let real else { return nil }
        defer { free(real) }
        return real.withMemoryRebound(to: UInt8.self, capacity: 1) {
            Array(UnsafeBufferPointer(start: $0, count: strlen(real)))
        }
    }

    /// A path as C wants it.
    private static func text(_ path: [UInt8]) -> [CChar] { path.map { CChar(bitPattern: $0) } + [0] }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// How a regular file begins, by which it is told what it holds.
package struct FileHead: Sendable {
    /// What it is called.
    package let name: String
    /// Its first bytes; fewer than were asked for only if it is shorter than that.
    package let bytes: [UInt8]
    /// Whether anybody may execute it.
    package let isExecutable: Bool

    /// Why nothing is known of a file, worded to follow “cannot be opened: ”.
    package struct Failure: Error {
        /// The reason.
        package let reason: String
    }

    /// Looks at the first `count` bytes of the file at `path`, without waiting for anybody or becoming anybody's terminal
    /// where there is no regular file. This blocks as long as the file system does.
    /// - Parameter followsLinks: whether the last part of the path may be a link.
    /// - Throws: if it cannot be read, or is no regular file.
    package init(of path: String, count: Int, followsLinks: Bool = true) throws(Failure) {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = open(path, flags)
        guard descriptor >= 0 else { throw Failure(reason: SystemError.last) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Failure(reason: SystemError.last) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(reason: "it is not a regular file") }
        var bytes = [UInt8](repeating: 0, count: count)
        let length = pread(descriptor, &bytes, count, 0)
        guard length >= 0 else { throw Failure(reason: SystemError.last) }
        name = path.split(separator: "/").last.map(String.init) ?? ""
        self.bytes = Array(bytes.prefix(length))
        isExecutable = status.st_mode & 0o111 != 0
    }
}

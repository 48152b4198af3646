// SPDX-License-Identifier: LGPL-2.1-or-later
package import Glibc

/// Which file it is, and which content it has: what another file, or the same one after a change, does not share.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// That of the file of which the system says this.
    package init(_ status: stat) {
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
        size = Int64(status.st_size)
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }

    /// That of an open file; nil if the system does not tell.
    package init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// That of `name` in the folder `descriptor`, of which a link is not followed; nil if there is none.
    package init?(_ name: String, in descriptor: Int32) {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        self.init(status)
    }
}

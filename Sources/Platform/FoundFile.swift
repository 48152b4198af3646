// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Finding files without leaving a folder (openat2(2)), and what a file is before anything is read of it.
///
/// Everything here may wait for a file system as long as that does not answer.
package enum FoundFile {
    /// How far the search may lead.
    package enum Confinement: Sendable {
        /// Anywhere, as for any program of the user.
        case none
        /// Nowhere but beneath the folder: a link that leads out of it, or that begins at the root, is an error.
        case beneath
        /// The folder is the root directory, and nothing leads out of it.
        case root

        /// The flags of openat2(2): `RESOLVE_NO_MAGICLINKS`, and `RESOLVE_BENEATH` or `RESOLVE_IN_ROOT`.
        fileprivate var flags: UInt64 {
            switch self {
            case .none: 0x02
            case .beneath: 0x02 | 0x08
            case .root: 0x02 | 0x10
            }
        }
    }

    /// `O_PATH` (open(2)), which the C module lacks: such a descriptor only says which file is meant; nothing is opened
    /// that could notice it.
    private static let pathOnly: Int32 = 0o10_000_000

    /// Finds the file at `path`, which ends with a zero, from `folder` (`AT_FDCWD` for paths that begin at the root).
    /// - Returns: a descriptor that can only be looked at; negative with `errno` set if there is none.
    package static func find(
        _ path: [UInt8], in folder: Int32, _ confinement: Confinement, isFolder: Bool = false
    ) -> Int32 {
        let flags = pathOnly | O_CLOEXEC | (isFolder ? O_DIRECTORY : 0)
        return path.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.last == 0 else {
                errno = EINVAL
                return -1
            }
            if case .none = confinement { return openat(folder, start, flags) }
            let found = handoff_openat2(folder, start, UInt64(flags), confinement.flags)
            // Kernels before 5.6 do not have it. Then no link is followed at all.
            guard found < 0, errno == ENOSYS, case .beneath = confinement,
                !bytes.dropLast().contains(UInt8(ascii: "/"))
            else { return found }
            return openUnlessLink(start, in: folder, flags)
        }
    }

    /// Opens `name` unless it is a link, which `O_PATH` alone would open itself.
    private static func openUnlessLink(
        _ name: UnsafePointer<CChar>, in folder: Int32, _ flags: Int32
    ) -> Int32 {
        let found = openat(folder, name, flags | O_NOFOLLOW)
        var status = stat()
        guard found >= 0, fstat(found, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return found }
        close(found)
        errno = ELOOP
        return -1
    }

    /// Opens for reading what `descriptor`, which can only be looked at, stands for.
    /// - Returns: another descriptor; negative with `errno` set if that is not possible.
    package static func open(_ descriptor: Int32) -> Int32 {
        // It was a regular file when it was looked at, and still is.
        Glibc.open("/proc/self/fd/\(descriptor)", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    }

    /// Where the open file or folder `descriptor` is, a path without any link in it; nil if that is not known, or no text.
    package static func path(of descriptor: Int32) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/fd/\(descriptor)", &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        let path = String(validating: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        return path?.hasPrefix("/") == true ? path : nil
    }

    /// Whether what holds the file keeps files, not facts about the system or ways to change it.
    package static func isKept(_ descriptor: Int32) -> Bool {
        !notKept.contains(handoff_file_system(descriptor))
    }

    /// Whether another machine or another program holds the file: then what stat(2) says may be old.
    package static func isRemote(_ descriptor: Int32) -> Bool {
        remote.contains(handoff_file_system(descriptor))
    }

    /// File systems of the kernel itself (`linux/magic.h`): proc, sysfs, both cgroups, debugfs, tracefs, securityfs,
    /// configfs, pstore, bpf, efivarfs, selinux, smack, apparmor, binfmt_misc, devpts, nsfs, fusectl, mqueue, resctrl,
    /// rpc_pipefs, pipes, sockets, anonymous inodes, hugetlbfs, secret memory, and those of processes.
    private static let notKept: Set<UInt64> = [
        0x9FA0, 0x6265_6572, 0x27_E0EB, 0x6367_7270, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0x6265_6570,
        0x6165_676C, 0xCAFE_4A11, 0xDE5E_81E4, 0xF97C_FF8C, 0x4341_5D53, 0x5A3C_69F0, 0x4249_4E4D, 0x1CD1,
        0x6E73_6673, 0x6573_5543, 0x1980_0202, 0x0765_5821, 0x6759_6969, 0x5049_5045, 0x534F_434B,
        0x0904_1934, 0x9584_58F6, 0x5345_434D, 0x5049_4446,
    ]

    /// FUSE, NFS, the three of SMB, 9P, AFS (two), Ceph, Coda, and the shared folders of virtual machines.
    private static let remote: Set<UInt64> = [
        0x6573_5546, 0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x517B, 0x0102_1997, 0x5346_414F, 0x6B41_4653,
        0x00C3_6400, 0x7375_7245, 0x786F_4256,
    ]
}

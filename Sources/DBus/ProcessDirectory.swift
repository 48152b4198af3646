// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import Platform

/// The directory of a process in `/proc`, opened once: whatever is read through it is about that process, or
/// is an error, even if its number belongs to another process by then.
///
/// Nothing here waits for another program: `/proc` belongs to the kernel, and files in the root directory are
/// opened only if no program serves their file system.
struct ProcessDirectory: ~Copyable {
    private let directory: FileDescriptor

    /// The longest file of `/proc` that is read; whoever has more mounts than fit into that is hiding
    /// something.
    private static let maximumSize = 1 << 20
    /// `O_PATH` (open(2)), which the C module lacks: opening a file like this neither reads nor waits.
    private static let pathOnly: Int32 = 0o10_000_000

    /// The mount that is as safe to look into as our own root directory, which is in it.
    private let ownMount: String?

    /// The directory at `path`, nil if there is no such process or it must not be looked at.
    init?(_ path: String, ownMount: String? = ownMountNumber) {
        guard let directory = Self.open(path, in: AT_FDCWD, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) else {
            return nil
        }
        self.directory = directory
        self.ownMount = ownMount
    }

    /// Whether the process runs. A process that has ended and has not been waited for has no root directory,
    /// which cannot be distinguished from an empty one; the same is true if only its first thread has ended.
    var isAlive: Bool {
        guard let text = text("stat"), let state = ProcessState.letter(ofStat: text.utf8) else {
            return false
        }
        return "RSDTtWKPI".utf8.contains(state)
    }

    /// The file `name` of the directory, nil if it cannot be read or is too long.
    func text(_ name: String) -> String? { Self.text(name, in: directory.number) }

    // MARK: The root directory

    /// What there is under some name in the root directory of a process.
    enum File: ~Copyable {
        /// Nothing.
        case absent
        /// Something that cannot be examined, or a root directory that cannot be.
        case hidden
        /// A regular file, open for reading.
        case regular(FileDescriptor)
        /// Something else.
        case other
    }

    /// The root directory of the process, to find files from; nil if it cannot be had.
    func root() -> FileDescriptor? {
        Self.open("root", in: directory.number, Self.pathOnly | O_DIRECTORY)
    }

    /// What there is as `name` in the root directory of the process.
    func file(inRoot name: String) -> File {
        guard let root = root(), isPrompt(root) else { return .hidden }
        guard let file = Self.open(name, in: root.number, Self.pathOnly | O_NOFOLLOW) else {
            return errno == ENOENT ? .absent : .hidden
        }
        var status = stat()
        // A link may lead anywhere.
        guard isPrompt(file), fstat(file.number, &status) == 0, status.st_mode & S_IFMT != S_IFLNK else {
            return .hidden
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return .other }
        let path = "/proc/self/fd/\(file.number)"
        guard let opened = Self.open(path, in: AT_FDCWD, O_RDONLY | O_NONBLOCK | O_NOCTTY) else {
            return .hidden
        }
        return .regular(opened)
    }

    /// Whether the kernel alone answers for the file system of `file`: a program that serves a file system
    /// need not answer, and one file system may lie over another. Our own root directory is always safe.
    private func isPrompt(_ file: borrowing FileDescriptor) -> Bool {
        guard let number = Self.mountNumber(of: file.number) else { return false }
        // If the root directory is not a mount point itself (chroot(2)), its mount is not listed.
        if number == ownMount { return true }
        guard let mount = Self.mount(number, in: text("mountinfo")) else { return false }
        if mount.type != "overlay", !mount.type.hasPrefix("fuse") { return true }
        return mount.device == Self.ownDevice
    }

    /// The mount that our own root directory is in, and its device if that is listed.
    static let ownMountNumber: String? = {
        guard let root = open("/", in: AT_FDCWD, pathOnly | O_DIRECTORY) else { return nil }
        return mountNumber(of: root.number)
    }()
    private static let ownDevice: String? = ownMountNumber.flatMap {
        mount($0, in: text("/proc/self/mountinfo", in: AT_FDCWD))?.device
    }

    /// The number of the mount that a file is in (proc_pid_fdinfo(5)).
    private static func mountNumber(of file: Int32) -> String? {
        guard let about = text("/proc/self/fdinfo/\(file)", in: AT_FDCWD),
            let line = about.split(separator: "\n").first(where: { $0.hasPrefix("mnt_id:") })
        else { return nil }
        return line.dropFirst("mnt_id:".count).filter(\.isNumber)
    }

    /// The device of the mount `number` and the type of its file system (proc_pid_mountinfo(5)), nil if it is
    /// not in `list`.
    private static func mount(_ number: String, in list: String?) -> (device: String, type: String)? {
        guard let list else { return nil }
        for line in list.utf8.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "))
            guard fields.count > 6, fields[0].elementsEqual(number.utf8),
                // Between the sixth and the hyphen there is any number of fields.
                let hyphen = fields[6...].firstIndex(where: { $0.elementsEqual("-".utf8) }),
                hyphen + 1 < fields.endIndex
            else { continue }
            return (String(Substring(fields[2])), String(Substring(fields[hyphen + 1])))
        }
        return nil
    }

    // MARK: Reading

    private static func open(_ name: String, in folder: Int32, _ flags: Int32) -> FileDescriptor? {
        let number = openat(folder, name, flags | O_CLOEXEC)
        return number >= 0 ? FileDescriptor(owning: number) : nil
    }

    private static func text(_ name: String, in folder: Int32) -> String? {
        guard let file = open(name, in: folder, O_RDONLY | O_NONBLOCK | O_NOCTTY),
            let bytes = contents(of: file, atMost: maximumSize)
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes of `file`, nil if it cannot be read or is longer than `limit`.
    static func contents(of file: borrowing FileDescriptor, atMost limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= limit {
            let count = read(file.number, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += chunk[..<count]
            } else if errno != EINTR {
                return nil
            }
        }
        return nil
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffSession
internal import Platform

/// The lock of the key and the list of peers, by which a bridge keeps others out as long as it uses them.
final class StateLock: Sendable {
    private let descriptor: FileDescriptor

    /// The lock of the state in `folder`, which is not taken yet; nil if there is none that a bridge could hold.
    init?(of folder: String) {
        let number = open(
            "\(folder)/\(HandoffDirectories.lockName)", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return nil }
        descriptor = FileDescriptor(owning: number)
    }

    /// Takes the lock for as long as this lives.
    /// - Returns: whether nobody else has it.
    func take() -> Bool { flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 }

    /// Whether someone has the lock who is not `process`. If it cannot be told who has it, nobody is said to.
    func isTaken(byOtherThan process: UInt32?) -> Bool {
        guard flock(descriptor.number, LOCK_SH | LOCK_NB) != 0 else {
            flock(descriptor.number, LOCK_UN)
            return false
        }
        guard errno == EWOULDBLOCK else { return false }
        return process.map { isHeld(by: $0) == false } ?? true
    }

    /// Whether `process` has the lock; nil if that cannot be seen. /proc/locks has other numbers of devices than stat(2) on
    /// some file systems, and other ids of processes in containers, so it is the files of the process that are looked at.
    private func isHeld(by process: UInt32) -> Bool? {
        var (mine, other) = (stat(), stat())
        guard fstat(descriptor.number, &mine) == 0, let directory = opendir("/proc/\(process)/fd") else {
            return nil
        }
        defer { closedir(directory) }
        while let name = FolderNames.next(in: directory) {
            guard stat("/proc/\(process)/fd/\(name)", &other) == 0, other.st_dev == mine.st_dev,
                other.st_ino == mine.st_ino,
                let bytes = try? SmallFile.read("/proc/\(process)/fdinfo/\(name)", maximumSize: 1 << 16)
            else { continue }
            if String(decoding: bytes, as: UTF8.self).contains("\nlock:") { return true }
        }
        return false
    }
}

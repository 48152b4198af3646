// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import CGio
internal import Glibc
internal import HandoffCore

/// Looks at a file that a player names, or is to be given. Both block as long as the file system does.
enum MediaFile {
    /// Whether the file at `path` may go to another device: it holds sound or moving pictures, and neither its name nor what
    /// that leads to may hold secrets.
    static func mayGoOn(_ path: String) -> Bool {
        guard !PrivateFiles.isPrivate(path), let real = realpath(path, nil) else { return false }
        defer { free(real) }
        return !PrivateFiles.isPrivate(String(cString: real)) && holdsMedia(path)
    }

    /// Whether the file at `path` holds sound or moving pictures, and is no list that leads to other files.
    static func holdsMedia(_ path: String) -> Bool {
        // Opening something else than a file may wait for ever, or do something.
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { return false }
        defer { close(number) }
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        var bytes = [UInt8](repeating: 0, count: MediaFormat.head)
        let count = pread(number, &bytes, bytes.count, 0)
        guard count > 0 else { return false }
        let head = Array(bytes[..<count])
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        return MediaFormat.isMedia(head) && !MediaFormat.isList(name: name, head)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import Glibc
internal import HandoffInterfaces
internal import Platform

/// A file that is edited, as it is on the disk.
enum EditedFile {
    /// The URL of the file at `path`, if it is a regular one and neither its name nor what that leads to is private; nil
    /// otherwise. This may block.
    static func url(_ path: String) -> String? {
        guard TextFile.isUsable(path), !PrivateFiles.isPrivate(path), let real = real(path),
            !PrivateFiles.isPrivate(real)
        else { return nil }
        return FileURL.text(Array(path.utf8))
    }

    /// The absolute path of the regular file that `url` names; nil if there is none, or its name is not fit for a command
    /// line. This may block.
    static func path(_ url: String) -> String? {
        guard let file = FileURL(url), file.suffix.isEmpty,
            let path = String(validating: file.path, as: UTF8.self), TextFile.isUsable(path),
            real(path) != nil
        else { return nil }
        return path
    }

    /// The text in the file at `path`; nil if it is none, too long to go along, or has marks that editors write and do not
    /// show: a byte order mark, or line ends of another system. This may block.
    static func text(_ path: String) -> String? {
        guard let bytes = (try? SmallFile.read(path, maximumSize: TextFile.maximumText)) ?? nil,
            !bytes.contains(UInt8(ascii: "\r")), !bytes.starts(with: [0xEF, 0xBB, 0xBF]),
            let text = String(validating: bytes, as: UTF8.self), EditorState.isFit(text)
        else { return nil }
        return text
    }

    /// Where the regular file at `path` really is; nil if there is none.
    private static func real(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        var status = stat()
        guard stat(text, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return String(cString: text)
    }
}

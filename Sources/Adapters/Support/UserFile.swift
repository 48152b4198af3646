// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces

/// A file that a user works on, as it is on the disk.
package enum UserFile {
    /// How long a path may be, in bytes.
    static let maximumPath = 4096

    /// Whether `path` is absolute, of a reasonable length, and has nothing in it that could steer a terminal.
    package static func isUsable(_ path: String) -> Bool {
        path.hasPrefix("/") && path.utf8.count <= maximumPath
            && !path.unicodeScalars.contains(where: PeerText.isControl)
    }

    /// The URL of the file at `path`, if it is a regular one and neither its name nor what that leads to is private; nil
    /// otherwise. This may block.
    package static func url(_ path: String) -> String? {
        guard isUsable(path), !PrivateFiles.isPrivate(path), let real = real(path),
            !PrivateFiles.isPrivate(real)
        else { return nil }
        return FileURL.text(Array(path.utf8))
    }

    /// The absolute path of the regular file that `url` names; nil if there is none, or its name is not fit for a command
    /// line. This may block.
    package static func path(_ url: String) -> String? {
        guard let file = FileURL(url), file.suffix.isEmpty,
            let path = String(validating: file.path, as: UTF8.self), isUsable(path), real(path) != nil
        else { return nil }
        return path
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

/// A text or document that an application shows.
package enum ShownDocument: Hashable, Sendable {
    /// A file, by its absolute path.
    case file(String)
    /// One that no file holds yet, by what the application calls it.
    case untitled(String)

    /// What a file or a name stands for; nil if it is none that may be continued elsewhere.
    package init?(file: String?, name: String?) {
        if let file {
            guard UserFile.isUsable(file), !PrivateFiles.isPrivate(file) else { return nil }
            self = .file(file)
        } else {
            guard let name, !name.isEmpty, PeerText.title(name) == name else { return nil }
            self = .untitled(name)
        }
    }

    /// What tells it from others.
    package var identity: String {
        switch self {
        case .file(let path): path
        case .untitled(let name): "untitled \(name)"
        }
    }

    /// What people call it.
    package var name: String {
        switch self {
        case .file(let path): path.split(separator: "/").last.map(String.init) ?? path
        case .untitled(let name): name
        }
    }

    /// The path of the file, if it is one.
    package var path: String? { if case .file(let path) = self { path } else { nil } }
}

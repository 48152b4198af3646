// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces

/// The folder that a shell is in.
enum ShellFolder {
    /// How long a path may be, in bytes.
    private static let maximumLength = 4096
    /// Folders of the kernel, which say nothing on another device.
    private static let systemFolders = ["/dev", "/proc", "/run", "/sys"]
    /// Where drives are that the user has plugged in.
    private static let drives = "/run/media/"
    /// Folders, wherever they are, whose very contents are secret.
    private static let privateFolders: Set<String> = [".ssh", ".gnupg", ".password-store", "keyrings"]

    /// Whether `path` is absolute, of a reasonable length, and has nothing in it that could steer a terminal.
    static func isUsable(_ path: String) -> Bool {
        path.hasPrefix("/") && path.utf8.count <= maximumLength
            && !path.unicodeScalars.contains(where: PeerText.isControl)
    }

    /// Whether nobody else should hear of the folder at `path`, which is absolute.
    static func isPrivate(_ path: String) -> Bool {
        systemFolders.contains { path == $0 || path.hasPrefix($0 + "/") } && !path.hasPrefix(drives)
            || path.split(separator: "/").contains { privateFolders.contains($0.lowercased()) }
    }

    /// Whether there is a folder at `path` that is this user's or the administrator's. In another person's folder what is
    /// run by its name could be something else than it seems. This may block.
    static func isThere(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            && (status.st_uid == getuid() || status.st_uid == 0) && access(path, X_OK) == 0
    }

    /// The folder as it is in `UserInfo`: a tagged URL, so that one in a shared folder is found on the other device.
    static func value(_ path: String) -> Value? {
        guard let url = FileURL.text(Array(path.utf8)) else { return nil }
        return try? .structure([.string(UserInfoRules.urlTag), .variant(.string(url))])
    }

    /// The path of the folder that an entry of a `UserInfo` names; nil if it names none.
    static func path(_ value: Value?) -> String? {
        guard case .structure(let structure)? = value, structure.fields.count == 2,
            structure.fields[0] == .string(UserInfoRules.urlTag),
            case .variant(.string(let url)) = structure.fields[1], let file = FileURL(url),
            file.suffix.isEmpty, let path = String(validating: file.path, as: UTF8.self), isUsable(path)
        else { return nil }
        return path
    }
}

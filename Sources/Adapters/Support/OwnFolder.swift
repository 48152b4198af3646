// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import Glibc
internal import HandoffInterfaces

/// A folder that a user works in: of a shell, or of an editor's window.
package enum OwnFolder {
    /// Folders of the kernel, which say nothing on another device.
    private static let systemFolders: Set<String> = ["dev", "proc", "run", "sys"]
    /// Where drives are that the user has plugged in.
    private static let drives = ["run", "media"]
    /// Folders, wherever they are, whose very contents are secret.
    private static let privateFolders: Set<String> = [".ssh", ".gnupg", ".password-store", "keyrings"]

    /// Whether `path` is absolute, of a reasonable length, in its plainest form, without empty parts, `.` and `..`, and has
    /// nothing in it that could steer a terminal.
    package static func isUsable(_ path: String) -> Bool {
        guard UserFile.isUsable(path) else { return false }
        return path == "/" || parts(of: path).allSatisfy { !["", ".", ".."].contains($0) }
    }

    /// What stands between the slashes of `path`, which is absolute. What would combine with a slash when it is shown does
    /// not make it another character to the system.
    private static func parts(of path: String) -> [String] {
        path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
    }

    /// Whether nobody else should hear of the folder at `path`, which is absolute and in its plainest form. What links in it
    /// lead to only ``look(at:)`` finds out.
    package static func isPrivate(_ path: String) -> Bool {
        let parts = parts(of: path)
        let isDrive = parts.count > drives.count && parts.starts(with: drives)
        return parts.prefix(1).contains(where: systemFolders.contains) && !isDrive
            || parts.contains { privateFolders.contains($0.lowercased()) }
    }

    /// What there is at a path.
    package enum Finding: Sendable {
        /// A folder of this user's or the administrator's.
        case folder
        /// No folder, or one of somebody else: what is run there by its name could be something else than it seems.
        case none
        /// A folder that links lead to, and nobody else should hear of.
        case `private`
        /// A folder that anybody can put something into, which is as bad as one of somebody else.
        case open
    }

    /// Looks at what is at `path`, wherever links lead. This may block.
    package static func look(at path: String) -> Finding {
        guard let real = realpath(path, nil) else { return .none }
        defer { free(real) }
        // Nobody can tell what is private by a name that is no text.
        guard let text = String(validatingCString: real) else { return .none }
        guard !isPrivate(text) else { return .private }
        var status = stat()
        guard lstat(real, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
            status.st_uid == getuid() || status.st_uid == 0, access(real, X_OK) == 0
        else { return .none }
        return status.st_mode & S_IWOTH == 0 ? .folder : .open
    }

    /// The folder as it is in `UserInfo`: a tagged URL, so that one in a shared folder is found on the other device.
    package static func value(_ path: String) -> Value? {
        guard let url = FileURL.text(Array(path.utf8)) else { return nil }
        return try? .structure([.string(UserInfoRules.urlTag), .variant(.string(url))])
    }

    /// The path of the folder that an entry of a `UserInfo` names; nil if it names none.
    package static func path(_ value: Value?) -> String? {
        guard case .structure(let structure)? = value, structure.fields.count == 2,
            structure.fields[0] == .string(UserInfoRules.urlTag),
            case .variant(.string(let url)) = structure.fields[1], let file = FileURL(url),
            file.suffix.isEmpty, let path = String(validating: file.path, as: UTF8.self), isUsable(path)
        else { return nil }
        return path
    }
}

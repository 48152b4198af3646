// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
package import HandoffCore
package import Platform

/// What the desktop entry of an application says (Desktop Entry Specification).
///
/// GIO's GDesktopAppInfo would read it too, but trusts what it finds: the broker's `InstalledApplications` says how.
package struct DesktopEntry {
    /// How many bytes an entry may have.
    package static let maximumSize = 64 << 10
    private static let mainGroup = "Desktop Entry"

    /// Where it is.
    package let path: String
    private let file: KeyFile

    /// The entry that is in `file`, which is at `path`.
    package init(_ file: KeyFile, at path: String) { (self.file, self.path) = (file, path) }

    /// The entry of `application`, as it is now; nil if there is none. This blocks as long as the file system does.
    /// - Throws: if it cannot be read.
    package static func find(_ application: ApplicationID) throws -> DesktopEntry? {
        guard let path = path(of: application),
            let file = try KeyFile.load(path, maximumSize: maximumSize)
        else { return nil }
        return DesktopEntry(file, at: path)
    }

    /// Whether it is that of an application which is installed.
    package func isInstalled() throws(KeyFileError) -> Bool {
        guard try string("Type") == "Application" else { return false }
        return try boolean("Hidden") != true
    }

    // MARK: Values

    // Each is that of the main group unless another is named. Each is nil if the group does not have it, and throws if it is
    // not what it should be.

    /// A text.
    package func string(_ key: String, in group: String? = nil) throws(KeyFileError) -> String? {
        try file.string(key, in: group ?? Self.mainGroup)
    }
    /// A text in the user's language.
    package func localizedString(_ key: String) throws(KeyFileError) -> String? {
        try file.localizedString(key, in: Self.mainGroup)
    }
    /// A truth value.
    package func boolean(_ key: String) throws(KeyFileError) -> Bool? {
        try file.boolean(key, in: Self.mainGroup)
    }
    /// A list of texts.
    package func strings(_ key: String, in group: String? = nil) throws(KeyFileError) -> [String]? {
        try file.strings(key, in: group ?? Self.mainGroup)
    }
    /// Whether it has this group.
    package func has(_ group: String) -> Bool { file.groups.contains(group) }
    /// The keys of the main group.
    package var keys: [String] { file.keys(in: Self.mainGroup) }

    // MARK: Where it is

    /// How deep folders may be nested.
    package static let maximumDepth = 8

    /// Where the entry of `application` is: the first file that has this id; nil if there is none. This blocks as long as
    /// the file system does.
    package static func path(of application: ApplicationID) -> String? {
        for folder in UserDirectories.applications {
            if let path = path("\(application).desktop"[...], in: folder, depth: 0) { return path }
        }
        return nil
    }

    /// A hyphen in an id may stand for a folder.
    private static func path(_ name: Substring, in folder: String, depth: Int) -> String? {
        let path = "\(folder)/\(name)"
        var status = stat()
        if stat(path, &status) == 0 { return path }
        guard depth < maximumDepth else { return nil }
        for hyphen in name.indices where name[hyphen] == "-" {
            let inner = "\(folder)/\(name[..<hyphen])"
            guard isFolder(inner) else { continue }
            if let path = Self.path(name[hyphen...].dropFirst(), in: inner, depth: depth + 1) { return path }
        }
        return nil
    }

    /// Whether there is a folder at `path`, and no link to one.
    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}

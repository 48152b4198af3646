// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
package import HandoffCore
internal import Platform

/// The files that desktop entries are in (Desktop Entry Specification, "Desktop File ID").
package enum EntryFiles {
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

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// The names of what is in a folder.
package enum FolderNames {
    /// The names in the folder at `path`, without `.` and `..`; none if it cannot be read. This may block.
    package static func all(in path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let name = next(in: directory) {
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The next name in `directory` (readdir(3)), `.` and `..` among them; nil if there is none. What of it is no UTF-8 is
    /// replaced.
    package static func next(in directory: OpaquePointer) -> String? {
        guard let entry = readdir(directory) else { return nil }
        return withUnsafeBytes(of: &entry.pointee.d_name) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// The names of what is in a folder.
package enum FolderNames {
    /// The next name in `directory` (readdir(3)), `.` and `..` among them; nil if there is none. What of it is no UTF-8 is
    /// replaced.
    package static func next(in directory: OpaquePointer) -> String? {
        guard let entry = readdir(directory) else { return nil }
        return withUnsafeBytes(of: &entry.pointee.d_name) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

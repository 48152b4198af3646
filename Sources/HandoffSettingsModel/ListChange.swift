// SPDX-License-Identifier: LGPL-2.1-or-later

/// A change of a preference that is a list. It says what becomes of one entry, so that the others stay as they are when it is
/// made, whatever was seen of them before.
package struct ListChange: Equatable, Sendable {
    /// The name of the preference.
    package let preference: String
    private let entry: String
    private let isIn: Bool

    /// Has `entry` in `preference`, or not in it.
    init(_ preference: String, _ entry: String, isIn: Bool) {
        (self.preference, self.entry, self.isIn) = (preference, entry, isIn)
    }

    /// What becomes of `entries`.
    package func applied(to entries: [String]) -> [String] {
        (entries.filter { $0 != entry } + (isIn ? [entry] : [])).sorted()
    }
}

/// A change of the shared folders, of which the others stay as they are when it is made.
package struct FolderChange: Equatable, Sendable {
    private let name: String
    private let path: String?

    /// Shares the folder at `path` under `name`, or that name no longer if it is nil.
    init(_ name: String, _ path: String?) { (self.name, self.path) = (name, path) }

    /// What becomes of `folders`: their paths by their names.
    package func applied(to folders: [String: String]) -> [String: String] {
        var folders = folders
        folders[name] = path
        return folders
    }
}

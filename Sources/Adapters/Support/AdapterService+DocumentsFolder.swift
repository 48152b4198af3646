// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient
internal import HandoffCore
internal import Platform

extension AdapterService {
    /// The folder that documents of other devices are placed in.
    package var documentsFolder: String { Self.documentsFolder(preferences) }

    /// The same, by the properties of `Preferences`: the one that the user has chosen, or the usual one.
    package static func documentsFolder(_ preferences: [String: Value]) -> String {
        let chosen = preferences.text("DocumentsFolder")
        let folder = chosen.isEmpty ? nil : try? DocumentsFolder(chosen, home: UserDirectories.home)
        return folder?.path ?? "\(UserDirectories.downloads)/\(DocumentsFolder.usualName)"
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import HandoffCore
internal import Platform

extension AdapterService {
    /// The folder that documents of other devices are placed in: the one that the user has chosen, or the usual one.
    package var documentsFolder: String {
        let chosen = preferences.text("DocumentsFolder")
        let folder = chosen.isEmpty ? nil : try? DocumentsFolder(chosen, home: UserDirectories.home)
        return folder?.path ?? "\(UserDirectories.downloads)/\(DocumentsFolder.usualName)"
    }
}

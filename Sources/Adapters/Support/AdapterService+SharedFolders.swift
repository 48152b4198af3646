// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
package import HandoffCore

extension AdapterService {
    /// The folders that the user has named as shared. Those of sync clients are known to the broker alone.
    package var sharedFolders: SharedFolders {
        guard case .dictionary(let named)? = preferences["SharedFolders"] else { return SharedFolders() }
        return SharedFolders(
            chosen: named.entries.prefix(SharedFolders.maximumCount).compactMap { entry in
                guard let name = entry.key.string, let path = entry.value.string else { return nil }
                return try? SharedFolder(name, at: path)
            })
    }
}

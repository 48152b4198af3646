// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffSettingsModel

/// The adapters of this release, which the user can switch off one by one.
enum InstalledAdapters {
    /// All of them; the page does not mention adapters while there is none.
    static let all: [Adapter] = []
}

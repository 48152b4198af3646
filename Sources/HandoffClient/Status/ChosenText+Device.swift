// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore

extension ChosenText {
    /// What to call the device with this id: what it calls itself, or else the beginning of its id.
    package static func device(name: String, id: String) -> ChosenText {
        ChosenText(name: name.isEmpty ? String(id.prefix(ShortIDs.minimum)) : name)
    }
}

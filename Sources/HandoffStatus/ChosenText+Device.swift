// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
package import HandoffCore

extension ChosenText {
    /// What to call the device with this id: what it calls itself, or else the beginning of its id.
    package static func device(name: String, id: String) -> ChosenText {
        let chosen = ChosenText(name: name)
        // Of a name of characters that cannot be seen nothing is left.
        return chosen.shown.isEmpty ? ChosenText(name: String(id.prefix(ShortIDs.minimum))) : chosen
    }
}

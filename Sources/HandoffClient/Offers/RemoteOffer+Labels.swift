// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore

extension RemoteOffer {
    /// What to call it: the title, or the application if there is none; fit to be shown.
    package var label: ChosenText { ChosenText(title: title.isEmpty ? applicationID : title) }

    /// What to call its device; fit to be shown.
    package var device: ChosenText {
        ChosenText(name: deviceName.isEmpty ? String(deviceID.prefix(ShortIDs.minimum)) : deviceName)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore

extension RemoteOffer {
    /// What to call it: the title, or the application if there is none; fit to be shown.
    package var label: ChosenText {
        let chosen = ChosenText(title: title)
        return chosen.shown.isEmpty ? ChosenText(title: applicationID) : chosen
    }

    /// What to call its device; fit to be shown.
    package var device: ChosenText { .device(name: deviceName, id: deviceID) }

    /// The device, and since when it sleeps, if it does; fit to be shown.
    package var whereabouts: String { device.whereabouts(parkedAt: parkedAt) }

    /// The applications whose picture and name it may have, the best first: the one that would continue it here, else the one
    /// that it comes from, if that is installed here too. The latter comes first where it is continued in that one then.
    package var applications: [String] {
        var ids: [String] = []
        for id in StandIn.applications(handlers.first ?? "", applicationID)
        where !id.isEmpty && !ids.contains(id) {
            ids.append(id)
        }
        return ids
    }
}

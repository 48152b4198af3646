// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore
internal import Platform

extension ChosenText {
    /// What to call the device with this id: what it calls itself, or else the beginning of its id.
    package static func device(name: String, id: String) -> ChosenText {
        let chosen = ChosenText(name: name)
        // Of a name of characters that cannot be seen nothing is left.
        return chosen.shown.isEmpty ? ChosenText(name: String(id.prefix(ShortIDs.minimum))) : chosen
    }

    /// A device of this name, and since when it sleeps, in microseconds since the Unix epoch; 0 if it does not.
    package func whereabouts(parkedAt: Int64) -> String {
        parkedAt == 0
            ? shown
            : tr("{device}, asleep since {time}", ["device": shown, "time": LocalTime.ofDay(parkedAt)])
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStatus

extension NearbyDevice {
    /// Where it can be connected to, for people.
    var places: String { addresses.map(\.shown).joined(separator: ", ") }

    /// For programs. Its id is not known before it is connected.
    var json: JSON {
        [
            "deviceId": .null, "deviceName": .string(name), "addresses": .strings(addresses),
            "paired": .boolean(false), "connected": .boolean(false), "nearby": .boolean(true),
        ]
    }
}

extension [NearbyDevice] {
    /// The device, if there is one and no other.
    var onlyOne: NearbyDevice? { count == 1 ? first : nil }

    /// The lines of a list with this heading; none without devices.
    func lines(_ heading: String) -> [String] {
        if isEmpty { return [] }
        return [heading]
            + map { "  \($0.places)  \($0.label.inQuotes)" }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore

/// A device on the same network that lets itself be discovered and is not paired.
struct NearbyDevice: Equatable {
    /// What it calls itself.
    let name: String
    /// Where it can be connected to.
    let addresses: [String]

    /// What it calls itself, fit to be shown.
    var label: ChosenText { ChosenText(name: name) }

    /// Where it can be connected to, for people.
    var places: String { addresses.map(\.shown).joined(separator: ", ") }

    /// The devices in the property `Nearby`; none if there is no such property.
    static func all(in value: Value?) -> [NearbyDevice] {
        guard case .array(let array)? = value else { return [] }
        return array.elements.compactMap { $0.properties }.map {
            NearbyDevice(name: $0.text("Name"), addresses: $0.texts("Addresses"))
        }
    }

    var json: JSON { ["name": .string(name), "addresses": .strings(addresses)] }
}

extension [NearbyDevice] {
    /// The device, if there is one and no other.
    var onlyOne: NearbyDevice? { count == 1 ? first : nil }

    /// The lines of a list with this heading; none without devices.
    func lines(_ heading: String) -> [String] {
        if isEmpty { return [] }
        return [heading]
            + map { "  \($0.places)  \($0.label.quoted)" }
    }
}

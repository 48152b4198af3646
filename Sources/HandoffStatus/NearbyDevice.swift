// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient
package import HandoffCore

/// A device on the same network that lets itself be discovered and is not paired.
package struct NearbyDevice: Equatable, Sendable {
    /// What it calls itself.
    package let name: String
    /// Where it can be connected to.
    package let addresses: [String]

    /// A device that calls itself `name`.
    package init(name: String, addresses: [String]) {
        self.name = name
        self.addresses = addresses
    }

    /// What it calls itself, fit to be shown.
    package var label: ChosenText { ChosenText(name: name) }

    /// The devices in the property `Nearby`; none if there is no such property.
    package static func all(in value: Value?) -> [NearbyDevice] {
        guard case .array(let array)? = value else { return [] }
        return array.elements.compactMap { $0.properties }.map {
            NearbyDevice(name: $0.text("Name"), addresses: $0.texts("Addresses"))
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient
package import HandoffCore

/// A device whose user has ended the pairing with this one.
package struct EndedPairing: Equatable, Sendable {
    /// 64 hexadecimal digits.
    package let id: String
    /// What it was called; may be empty.
    package let name: String

    /// The device `id`, which was called `name`.
    package init(id: String, name: String) {
        self.id = id
        self.name = name
    }

    /// What to call it; fit to be shown.
    package var label: ChosenText { .device(name: name, id: id) }

    /// The devices in the property `EndedPairings`; none if there is no such property.
    package static func all(in value: Value?) -> [EndedPairing] {
        Value.propertyList(value).map { EndedPairing(id: $0.text("DeviceId"), name: $0.text("Name")) }
    }
}

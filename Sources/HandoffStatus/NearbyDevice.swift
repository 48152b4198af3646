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

    /// Whether it is `device`, as far as that can be known of one that is not connected: by its name and its host.
    package func isSame(as device: KnownDevice) -> Bool {
        let hosts = Set((device.addresses + [device.connectedAddress]).map(Self.host))
        return device.name == name && addresses.contains { hosts.contains(Self.host($0)) }
    }

    /// An address without its port.
    private static func host(_ address: String) -> Substring {
        address.lastIndex(of: ":").map { address[..<$0] } ?? address[...]
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

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

/// Answers to what several parts of the bridge ask: each part has a protocol that says what it needs.
extension Bridge {
    /// The id of this device.
    var ownID: DeviceID { identity.device }
    /// The devices that are trusted.
    var trusted: [DeviceID: TrustEntry] { trust.entries }

    func isTrusted(_ device: DeviceID) -> Bool { trust[device] != nil }
    func label(of device: DeviceID) -> String { devices.label(of: device) }
    func knownAddresses(of device: DeviceID) -> [NetworkAddress] { devices.addresses(of: device) }
    func deviceChanged(_ device: DeviceID) { devices.update(device) }
    func link(with device: DeviceID) -> Link? { links.current[device] }
    func announces(_ address: NetworkAddress) -> Bool { discovery.announces(address) }
    func note(refusal: String) { refusals.note(refusal) }
}

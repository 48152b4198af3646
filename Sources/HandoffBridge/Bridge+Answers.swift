// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

/// Answers to what several parts of the bridge ask: each part has a protocol that says what it needs.
extension Bridge {
    func knownAddresses(of device: DeviceID) -> [NetworkAddress] { devices.addresses(of: device) }
    func deviceChanged(_ device: DeviceID) { devices.update(device) }
    func link(with device: DeviceID) -> Link? { links.current[device] }
    func announces(_ address: NetworkAddress) -> Bool { discovery.announces(address) }
}

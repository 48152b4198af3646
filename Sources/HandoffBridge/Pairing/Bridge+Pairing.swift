// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

extension Bridge: PairingsOwner {
    func connect(to address: NetworkAddress, expecting device: DeviceID) async throws {
        _ = try await dials.connect(address, expecting: device)
    }

    func pairingChanged(_ device: DeviceID) {
        devices.update(device)
        // A device that is being paired is told this device's name.
        for link in links.all(with: device) {
            links.updateAllowance(of: link)
            link.say(hello(for: link))
        }
        links.dismissStrangers()
    }
}

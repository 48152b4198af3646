// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

extension Bridge: PairingsOwner {
    func connect(to address: NetworkAddress, expecting device: DeviceID) async throws {
        _ = try await dials.connect(address, expecting: device)
    }

    func checkRoom(for device: DeviceID) throws(HandoffFailure) { try trust.checkRoom(for: device) }

    func store(_ entry: TrustEntry) throws {
        var entry = entry
        entry.formerSecret = trust[entry.device]?.secret
        // Pairing anew mends the trust; what the user has chosen stays.
        entry.isMuted = trust[entry.device]?.isMuted ?? false
        do {
            try trust.put(entry)
        } catch {
            // The other side may have stored the pairing: with this secret it can be told, when it comes,
            // that there is none.
            if let secret = entry.secret { trust.bury(entry.device, secret) }
            throw error
        }
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

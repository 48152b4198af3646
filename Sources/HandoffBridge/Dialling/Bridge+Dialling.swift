// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

extension Bridge: DialsOwner {
    func hasLink(with device: DeviceID) -> Bool { links.current[device] != nil }
    func allLinks(with device: DeviceID) -> [Link] { links.all(with: device) }

    func addLink(
        _ transport: TLSConnection, dialled address: NetworkAddress, isRemembered: Bool
    ) throws -> Link {
        let link = try links.add(transport, .dialled(address))
        link.isAddressRemembered = isRemembered
        return link
    }

    func isFarAway(_ device: DeviceID) -> Bool { links.current[device]?.way == .otherNetwork }

    func reachableAddresses(of device: DeviceID) -> [NetworkAddress] {
        discovery.reachableAddresses(of: device)
    }

    func callback(of device: DeviceID) -> NetworkAddress? { whereabouts.callback(of: device) }

    func notReached(_ device: DeviceID, at address: NetworkAddress) {
        whereabouts.notReached(device, at: address)
        devices.update(device)
    }
}

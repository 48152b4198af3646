// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

extension Bridge: DialsOwner {
    func hasLink(with device: DeviceID) -> Bool { links.current[device] != nil }
    func allLinks(with device: DeviceID) -> [Link] { links.all(with: device) }

    func addLink(_ transport: TLSConnection, _ origin: Link.Origin, isRemembered: Bool) throws -> Link {
        let link = try links.add(transport, origin)
        link.isAddressRemembered = isRemembered
        return link
    }

    /// One carrier to `device` fewer: what was wrong with it may be of no interest any more.
    func carrierLeft(_ device: DeviceID) {
        dials.update(device)
        devices.update(device)
    }

    func way(to device: DeviceID) -> Link.Way? { links.current[device]?.way }

    func reachableAddresses(of device: DeviceID) -> [NetworkAddress] {
        discovery.reachableAddresses(of: device)
    }

    func callback(of device: DeviceID) -> NetworkAddress? { whereabouts.callback(of: device) }

    func notReached(_ device: DeviceID, at address: NetworkAddress?) {
        if let address { whereabouts.notReached(device, at: address) }
        devices.update(device)
    }
}

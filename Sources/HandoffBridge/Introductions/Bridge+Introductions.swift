// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

extension Bridge: IntroductionsOwner {
    var introduces: Bool { settings.introduces }
    func usableLink(with device: DeviceID) -> Int? { peers[device]?.link?.number }

    func linkedPlaces(of device: DeviceID) -> [KnockDestination] {
        guard let link = peers[device]?.link else { return [] }
        // Where a link goes is often of use to nobody else, as an address that holds on one cable alone.
        return (link.places + discovery.addresses(of: device)).compactMap { KnockDestination($0) }
    }

    func tell(_ device: DeviceID, introduced: [Introduction]?, retracted: [DeviceID]?) {
        guard let link = peers[device]?.link else { return }
        MainLoop.start { [label = state.label(of: device)] in
            let proxy = LinkProxy(link.remote)
            do {
                if let introduced { try await proxy.introduce(devices: introduced.map(\.said)) }
            } catch {
                bridgeLog.debug("\(label) did not take who is introduced: \(HandoffFailure(routed: error))")
            }
            do {
                if let retracted { try await proxy.retract(ids: retracted.map(\.bytes)) }
            } catch {
                bridgeLog.debug("\(label) did not take who was unpaired: \(HandoffFailure(routed: error))")
            }
        }
    }

    func introduced(_ list: [Introduction], over link: Link) throws {
        try checkUse(of: link)
        try introductions.introduced(list, by: link.device, over: link.number)
    }

    func retracted(_ devices: [DeviceID], over link: Link) throws {
        try checkUse(of: link)
        try introductions.retracted(devices, by: link.device, over: link.number)
    }

    /// - Throws: that another link with its device counts.
    private func checkUse(of link: Link) throws(HandoffFailure) {
        guard peers[link.device]?.link !== link else { return }
        throw HandoffFailure(.connectionUnavailable, "Another link counts. Say it over that.")
    }

    func introducedAddresses(of device: DeviceID) -> [NetworkAddress] {
        introductions.shown(device).addresses
    }
    func introduction(of device: DeviceID) -> Introductions.Shown { introductions.shown(device) }
    func acceptIntroduction(of device: DeviceID) throws { try introductions.accept(device) }
    func declineIntroduction(of device: DeviceID) throws { try introductions.decline(device) }
    func keepPairing(with device: DeviceID) throws { try introductions.keep(device) }
}

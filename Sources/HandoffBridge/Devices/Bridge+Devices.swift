// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

extension Bridge: DevicesOwner {
    func concernsPairing(_ device: DeviceID) -> Bool { pairings.concerns(device) }

    func shownPairing(of device: DeviceID) -> (state: String, isAsked: Bool, code: String, error: ShownError)
    {
        pairings.shown(device)
    }

    func pairingAddresses(of device: DeviceID) -> [NetworkAddress] { pairings.addresses(of: device) }
    func announcedAddresses(of device: DeviceID) -> [NetworkAddress] { discovery.addresses(of: device) }
    func asleepSince(_ device: DeviceID) -> Int64 { peers[device]?.asleepSince ?? 0 }
    func dialError(of device: DeviceID) -> ShownError? { dials.errors[device] }
    func sending(to device: DeviceID) -> (isUnderWay: Bool, error: ShownError) { sends.state(of: device) }
    func peerServer(for device: DeviceID) -> any PeerServer { OutgoingPeerObject(state, self, device) }

    func pair(_ device: DeviceID) throws { try pairings.pair(device) }

    func confirmPairing(_ device: DeviceID, _ matches: Bool) throws {
        try pairings.confirm(device, matches)
    }

    func cancelPairing(_ device: DeviceID) { pairings.cancel(device) }
    func send(to device: DeviceID) async throws { try await sends.send(to: device) }

    func listActivities(of device: DeviceID) async throws -> [ObjectPath] {
        guard peers[device] != nil else { throw Peer.notPaired(state.label(of: device)) }
        guard await isOnNow() else { throw HandoffFailure.disabled }
        return try await broker.listActivities(of: device)
    }

    func waiting(for device: DeviceID) -> [[String: Value]] { outbox.waiting(for: device) }

    func cancelWaiting(_ id: ActivityID, for device: DeviceID) throws { try outbox.cancel(id, for: device) }
}

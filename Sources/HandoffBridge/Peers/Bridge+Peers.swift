// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop

extension Bridge: PeerOwner, IncomingPeerOwner, AllPeersOwner {
    func peer(_ device: DeviceID) -> Peer? { peers[device] }
    func dialNow(_ device: DeviceID) { dials.dialNow(device) }
    func hasStreams(_ owner: Stream.Owner) -> Bool { streams.exist(owner) }
}

extension Bridge: OutgoingPeerOwner {
    func openStream(_ id: ContinuationID, of peer: Peer) async throws -> FileDescriptor {
        try await streams.open(id, of: peer)
    }

    func releaseStreams(_ owner: Stream.Owner) { streams.release(owner) }
}

extension Bridge: BrokerClientOwner {
    var isEnabledInSettings: Bool { settings.isEnabled }
}

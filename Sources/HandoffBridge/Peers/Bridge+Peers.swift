// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

extension Bridge: PeerOwner, IncomingPeerOwner, AllPeersOwner {
    func peer(_ device: DeviceID) -> Peer? { peers[device] }
    func dialNow(_ device: DeviceID) { dials.dialNow(device) }
    func hasStreams(_ owner: Stream.Owner) -> Bool { streams.exist(owner) }
}

extension Bridge: OutboxOwner {
    var isOn: Bool { state.isOn }
    func saveOffer() async throws -> PeerManagerSaveReply { try await broker.save() }
}

extension Bridge: OutgoingPeerOwner {
    func openStream(_ id: ContinuationID, of peer: Peer) async throws -> FileDescriptor {
        let opened = try await streams.open(.application, id, of: peer)
        return opened.end
    }

    func openDocument(_ id: ContinuationID, of peer: Peer) async throws -> PeerOpenDocumentReply {
        let opened = try await streams.open(.document, id, of: peer)
        let about = opened.about?.about ?? [:]
        return PeerOpenDocumentReply(stream: opened.end, about: about)
    }

    func releaseStreams(_ owner: Stream.Owner) { streams.release(owner) }
}

extension Bridge: BrokerClientOwner {
    func brokerCrowded(_ isCrowded: Bool) { links.isHeldUp = isCrowded }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

extension Bridge: StreamsOwner {
    func brokersPeer(_ device: DeviceID) -> PeerProxy? { broker.peer(device) }
    func brokerWillHear(of device: DeviceID, invitedAt time: Int64) { broker.willInvite(device, at: time) }
    func callee(of device: DeviceID) async throws -> PeerProxy { try await broker.callee(of: device) }
    func streamOpened(_ stream: Stream) { broker.streamOpened(stream) }
    func streamClosed(_ stream: Stream) { broker.streamClosed(stream) }
    func streamEnded(_ owner: Stream.Owner) { peers[owner.device]?.streamEnded(owner) }
}

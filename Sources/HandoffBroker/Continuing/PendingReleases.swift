// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The ends of continuations that their origins have to be told about, once more when there is a link if
/// there was none.
@MainLoop
final class PendingReleases {
    private let peers: any PeerDirectory
    private var unsent: [DeviceID: [ContinuationID]] = [:]

    /// How many are kept for one device; an origin keeps no more continuations of a peer.
    private static let maximum = Quota.continuationsOfPeer

    init(_ peers: any PeerDirectory) { self.peers = peers }

    /// Tells the origin that the continuation has ended.
    func release(_ id: ContinuationID, of device: DeviceID) {
        MainLoop.start { [weak self] in
            guard let self else { return }
            do {
                try await peers.bridgePeer(device).release(continuation: id.description)
            } catch {
                let failure = HandoffFailure(routed: error)
                brokerLog.debug("continuation \(id): Release: \(failure.message)")
                if failure.code == .connectionUnavailable { keep(id, of: device) }
            }
        }
    }

    /// There is a link to the device, or another one.
    func linkRestored(to device: DeviceID) {
        for id in unsent.removeValue(forKey: device) ?? [] { release(id, of: device) }
    }

    /// The device is no longer paired.
    func forget(_ device: DeviceID) { unsent[device] = nil }

    private func keep(_ id: ContinuationID, of device: DeviceID) {
        unsent[device, default: []].append(id)
        if let count = unsent[device]?.count, count > Self.maximum { unsent[device]?.removeFirst() }
    }
}

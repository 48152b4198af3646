// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What sending needs from its surroundings.
@MainLoop
protocol SendsOwner: AnyObject {
    /// The peer `device`; nil if the device is not a peer.
    func peer(_ device: DeviceID) -> Peer?
    /// What this device offers.
    var ownOffer: OwnOffer? { get }
    /// What waits here for devices that were away.
    var outbox: Outbox { get }
    /// Whether Handoff is on. What the broker has said before this is asked has been taken in when it is answered.
    func isOnNow() async -> Bool
    /// What there is to show of `device` may have changed.
    func deviceChanged(_ device: DeviceID)
}

/// Sends what this device offers to a peer that the user has chosen: one activity at a time is on its way to a peer, and
/// of those that are sent meanwhile the latest follows.
@MainLoop
final class Sends {
    /// Why a device did not take what was sent last.
    private var errors: [DeviceID: ShownError] = [:]
    /// What is to be sent next.
    private var next: [DeviceID: ActivityID] = [:]
    private var underWay: Set<DeviceID> = []
    private let state: BridgeState
    private let owner: any SendsOwner

    init(_ state: BridgeState, _ owner: any SendsOwner) { (self.state, self.owner) = (state, owner) }

    /// Whether something is on its way to `device`, and why it did not take what was sent last.
    func state(of device: DeviceID) -> (isUnderWay: Bool, error: ShownError) {
        (underWay.contains(device), errors[device] ?? .none)
    }

    /// Sends what is offered to `device`, which may take it later than this returns.
    /// - Throws: `notPaired`, `disabled`, `offerWithdrawn`, or why it cannot wait for a device that is away; then nothing is
    ///   sent.
    func send(to device: DeviceID) async throws {
        func requirePeer() throws -> Peer {
            guard let peer = owner.peer(device) else { throw Peer.notPaired(state.label(of: device)) }
            return peer
        }
        _ = try requirePeer()
        guard await owner.isOnNow() else { throw HandoffFailure.disabled }
        let peer = try requirePeer()
        // What its user has left last, to look at something else, is not offered; it is sent as it is now.
        guard peer.link != nil, let offer = owner.ownOffer else {
            try await owner.outbox.keep(for: device, called: peer.label)
            errors[device] = nil
            return owner.deviceChanged(device)
        }
        next[device] = offer.id
        errors[device] = nil
        let isFirst = underWay.insert(device).inserted
        owner.deviceChanged(device)
        guard isFirst else { return }
        MainLoop.start { [weak self] in await self?.sendAll(to: device) }
    }

    private func sendAll(to device: DeviceID) async {
        while let id = next.removeValue(forKey: device), let peer = owner.peer(device) {
            do {
                try await peer.invite(id)
                owner.outbox.sent(id, to: device)
                bridgeLog.message("Activity \(id) was sent to \(peer.label).")
            } catch {
                let failure = HandoffFailure(routed: error)
                // The device may have gone before anybody noticed.
                if failure.code == .connectionUnavailable, owner.ownOffer?.id == id, next[device] == nil,
                    (try? await owner.outbox.keep(for: device, called: peer.label)) != nil
                {
                    continue
                }
                bridgeLog.message("Activity \(id) was not sent to \(peer.label): \(failure)")
                // Only what was sent last matters, and only to a peer.
                if next[device] == nil, owner.peer(device) === peer {
                    errors[device] = ShownError(failure)
                }
            }
        }
        underWay.remove(device)
        owner.deviceChanged(device)
    }

    /// The device is no longer a peer.
    func forget(_ device: DeviceID) {
        errors[device] = nil
        next[device] = nil
    }
}

extension Bridge: SendsOwner {
    func isOnNow() async -> Bool { await broker.isOnNow() }

    /// What `device` sends is shown as sent from now on, or not.
    func setMuted(_ isMuted: Bool, _ device: DeviceID) throws {
        guard var entry = state.trust[device] else { throw Peer.notPaired(state.label(of: device)) }
        guard entry.isMuted != isMuted else { return }
        entry.isMuted = isMuted
        try state.trust.put(entry)
        bridgeLog.message("\(state.label(of: device)) is \(isMuted ? "muted" : "no longer muted").")
        if isMuted { peers[device]?.invitationEnded() }
        reconcile(device)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

extension Peer {
    /// Tells the peer that the user here has sent `id` to it.
    /// - Throws: `offerWithdrawn` if that is not what this device offers, `notSupported` if the peer cannot be sent
    ///   anything, or what ``call(_:_:)`` throws.
    func invite(_ id: ActivityID) async throws {
        try await call("Invite to \(id)") { proxy, timeout in
            // Something else may be offered by the time that there is a new link.
            guard owner.ownOffer?.id == id else { throw Self.notOffered(id) }
            do {
                try await proxy.invite(activity: id.description, timeout: timeout)
            } catch {
                guard DBusError.converting(error).saysThatMemberIsMissing else { throw error }
                throw HandoffFailure(
                    .notSupported,
                    "The Handoff of \(label) is too old to be sent activities. Update it there; what is offered can be"
                        + " continued there as it is.")
            }
        }
    }

    /// The peer's user has sent the activity here; nothing comes of that while the peer is muted.
    /// - Throws: `offerWithdrawn` if it is not what the peer offers, or what the broker answers.
    func invited(_ id: ActivityID) async throws {
        if state.trust[device]?.isMuted == true {
            // It is answered as from any other.
            guard offer.holds(id) else { throw Self.notOffered(id) }
            return
        }
        guard let actions = offer.invited(id, wall: max(1, MainLoop.wallClock), at: MainLoop.bootClock) else {
            throw Self.notOffered(id)
        }
        for telling in perform(actions) { try await telling.value }
    }

    /// What the peer has sent is not shown as sent any more: the broker fetches it, or the peer is muted (nil).
    func invitationEnded(_ id: ActivityID? = nil) {
        offer.invitationEnded(id)
        updateTimer()
    }

    /// Only what is offered now can be sent.
    static func notOffered(_ id: ActivityID) -> HandoffFailure {
        HandoffFailure(
            .offerWithdrawn,
            "Activity \(id) is not what is offered now. Offer it first, or send what is offered.")
    }

    // MARK: What was kept

    /// Nobody here wants what the peer has kept for this device any more.
    func dropKept(_ id: ActivityID) { perform(offer.withdrawn(id)) }

    /// Tells the peer that nobody here wants what it has kept for this device.
    func tellDismissed(_ id: ActivityID) async throws {
        try await call("Dismissed of \(id)") { proxy, timeout in
            try await proxy.dismissed(activity: id.description, timeout: timeout)
        }
    }
}

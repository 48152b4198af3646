// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

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
                throw tooOld(
                    error,
                    "to be sent activities. Update it there; what is offered can be continued there as it is."
                )
            }
        }
    }

    /// Asks the peer what is open there; the summaries are in the form that they have on a link.
    func list() async throws -> [ListedActivity] {
        try await call("List") { proxy, timeout in
            do {
                return try await proxy.list(timeout: timeout)
            } catch {
                throw tooOld(
                    error, "to say what is open there. Update it there; what it offers can be continued here."
                )
            }
        }
    }

    /// What an answer says that the Handoff of the peer does not know: `what` comes after “too old”. Any other error is as it was.
    private func tooOld(_ error: any Error, _ what: String) -> any Error {
        guard DBusError.converting(error).saysThatMemberIsMissing else { return error }
        return HandoffFailure(.notSupported, "The Handoff of \(label) is too old \(what)")
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

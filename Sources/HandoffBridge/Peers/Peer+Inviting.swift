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
                guard DBusError.converting(error).saysThatMemberIsMissing else { throw error }
                throw HandoffFailure(
                    .notSupported,
                    "The Handoff of \(label) is too old to be sent activities. Update it there; what is offered can be"
                        + " continued there as it is.")
            }
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

extension HandoffFailure {
    /// On a link, a stream or a document is asked for with the member of this name of `Link`.
    static func notHere(_ member: String) -> HandoffFailure {
        HandoffFailure(
            .notSupported, "A link carries no descriptors. Call \(member) of org.example.Handoff.Link.")
    }

    /// A device says that it has continued what was never left with it.
    static func notLeft(_ id: ActivityID) -> HandoffFailure {
        HandoffFailure(
            .unknownObject,
            "Activity \(id) was not left with this device, or it has said so before. Continue what is offered."
        )
    }

    /// There is no way to `device` now.
    static func unreachable(_ device: String, _ why: String) -> HandoffFailure {
        HandoffFailure(.connectionUnavailable, "\(device) cannot be reached: \(why)")
    }
}

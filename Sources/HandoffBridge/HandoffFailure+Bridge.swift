// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

extension HandoffFailure {
    /// On a link, a stream or a document is asked for with the member of this name of `Link`.
    static func notHere(_ member: String) -> HandoffFailure {
        HandoffFailure(
            .notSupported, "A link carries no descriptors. Call \(member) of org.example.Handoff.Link.")
    }

    /// There is no way to `device` now.
    static func unreachable(_ device: String, _ why: String) -> HandoffFailure {
        HandoffFailure(.connectionUnavailable, "\(device) cannot be reached: \(why)")
    }
}

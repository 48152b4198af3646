// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

extension HandoffFailure {
    /// Neither side can do this yet.
    static var documentsNotYet: HandoffFailure {
        HandoffFailure(.notSupported, "This version brings no documents over. Use a stream.")
    }

    /// On a link, a stream is asked for with `OpenStream` of `Link`.
    static var noStreamHere: HandoffFailure {
        HandoffFailure(
            .notSupported, "A link carries no descriptors. Call OpenStream of org.example.Handoff.Link.")
    }

    /// There is no way to `device` now.
    static func unreachable(_ device: String, _ why: String) -> HandoffFailure {
        HandoffFailure(.connectionUnavailable, "\(device) cannot be reached: \(why)")
    }
}

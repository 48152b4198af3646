// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

/// What a peer has left here before it slept: what it offered, or something else that was open there.
struct ParkedActivity: Sendable {
    let id: ActivityID
    /// What `Fetch` would have returned.
    let payload: PackedProperties

    /// Checks what was left by the rules for what is fetched.
    /// - Throws: what rule was broken, or `InvalidArgs` if it does not agree with `offer`.
    static func check(_ payload: PackedProperties, _ offer: Offer) throws {
        let fetched = try FetchedActivity.check(try payload.unpacked(), offer).summary.offer
        guard offer.agrees(with: fetched), offer.revision == fetched.revision else {
            throw HandoffFailure(
                .invalidArguments,
                "The state that is left of activity \(offer.id) does not match its summary. Give both of the"
                    + " same state."
            )
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// Which of two established links with one device stays. Both devices come to the same answer.
///
/// A link that a carrier has brought never replaces a direct one, which always replaces it. Of two others: a device dials only when
/// it has no link, so a new link shows that the older one is dead on the other side,
/// and replaces it. Only if both have dialled at the same time are both alive: then the link stays that was
/// dialled by the device with the smaller id. How each side sees the order of the two is then a matter of
/// luck, so what counts is that they go in opposite directions and that the older is younger than
/// ``simultaneous``.
struct LinkChoice {
    /// A link, as far as it matters to the choice.
    struct Candidate: Equatable {
        /// Whether this device dialled the link.
        let isDialled: Bool
        /// When the link was established, in microseconds.
        let establishedAt: Int64
        /// Whether a carrier has brought it.
        var isCarried = false
    }

    /// Links that are established within this time of each other may come from simultaneous dials, in
    /// microseconds.
    static let simultaneous: Int64 = 5_000_000

    let ours: DeviceID
    let theirs: DeviceID

    /// Whether the links that this device dials are the ones that stay.
    var prefersDialled: Bool { ours < theirs }

    /// Whether `new` takes the place of `old`.
    func replaces(_ new: Candidate, _ old: Candidate) -> Bool {
        if new.isCarried != old.isCarried { return old.isCarried }
        return areSimultaneous(new, old) ? new.isDialled == prefersDialled : true
    }

    /// Whether both links may come from simultaneous dials.
    func areSimultaneous(_ new: Candidate, _ old: Candidate) -> Bool {
        new.isDialled != old.isDialled && new.establishedAt - old.establishedAt < Self.simultaneous
    }
}

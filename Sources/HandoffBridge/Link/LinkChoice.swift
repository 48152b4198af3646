// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// Which of two established links with one device stays; both devices come to the same answer.
///
/// A device dials only when it has no link, so a new link tells that the older one is dead on the other side,
/// and replaces it. Only if both have dialled at the same time are both alive: then the link stays that was
/// dialled by the device with the smaller id. How each side sees the order of the two is then a matter of
/// luck, so what counts is that they go in opposite directions and that the older is younger than
/// ``simultaneous``.
struct LinkChoice {
    /// A link, as far as it matters.
    struct Candidate: Equatable {
        /// Whether this device dialled it.
        let isDialled: Bool
        /// When it was established, in microseconds.
        let establishedAt: Int64
    }

    /// Links that are established within this time may come from dials at the same time, in microseconds.
    static let simultaneous: Int64 = 5_000_000

    let ours: DeviceID
    let theirs: DeviceID

    /// Whether links that this device dials are those that stay.
    var prefersDialled: Bool { ours < theirs }

    /// Whether `new` takes the place of `old`.
    func replaces(_ new: Candidate, _ old: Candidate) -> Bool {
        areSimultaneous(new, old) ? new.isDialled == prefersDialled : true
    }

    /// Whether both may come from dials at the same time.
    func areSimultaneous(_ new: Candidate, _ old: Candidate) -> Bool {
        new.isDialled != old.isDialled && new.establishedAt - old.establishedAt < Self.simultaneous
    }
}

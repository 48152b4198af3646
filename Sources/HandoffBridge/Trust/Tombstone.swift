// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// What is left of a device that was unpaired: enough to tell it so when it comes again.
struct Tombstone: Hashable, Sendable {
    /// The device.
    let device: DeviceID
    /// What both know.
    let secret: PeerSecret
    /// When it was unpaired, in microseconds since the Unix epoch.
    let since: Int64

    /// For how long, in microseconds, one is kept.
    static let life: Int64 = 30 * 86_400 * 1_000_000
    /// How many are kept; of more, the oldest go.
    static let maximum = 16

    /// Whether it is still of use at `now`, microseconds since the Unix epoch. One from the future is not.
    func isAlive(at now: Int64) -> Bool { since >= 0 && since <= now && now - since < Self.life }
}

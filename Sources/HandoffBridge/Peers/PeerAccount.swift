// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffDaemon
internal import HandoffInterfaces
internal import MainLoop

/// The processor time of one device, or of all strangers together, which all their links share.
@MainLoop
struct PeerAccount {
    /// The time of all devices.
    let times: TimeKeeper
    /// The device; nil for strangers.
    let device: DeviceID?

    /// Whether its links are closed, and none is let in.
    var isBarred: Bool { times.isBarred(device) }

    /// Runs `body` at the expense of this account: now, or as soon as it may go on.
    /// - Returns: whether it was now.
    func admit(_ body: @escaping @MainLoop () -> Void) -> Bool { times.admit(device) { _ in body() } }
}

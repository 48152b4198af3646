// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffDaemon
internal import MainLoop

/// The processor time of one device, or of all strangers together, which all their links share.
@MainLoop
struct PeerAccount {
    /// The time of all devices.
    let times: TimeKeeper
    /// The device; nil for strangers.
    let device: DeviceID?

    /// Whether the links of the device or the strangers are closed, and no new one is let in.
    var isBarred: Bool { times.isBarred(device) }

    /// Runs `body` and charges its time to this account: now, or as soon as the account may have more.
    /// - Returns: whether that was now.
    func admit(_ body: @escaping @MainLoop () -> Void) -> Bool { times.admit(device) { _ in body() } }
}

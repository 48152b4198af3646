// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// What the parts of the bridge share: who this device shows itself to be, which others it trusts, what they are called,
/// and whether Handoff is on.
@MainLoop
final class BridgeState {
    /// The user's switch.
    enum Switch {
        /// It is not known yet, or the bridge is ending: nothing is begun.
        case unknown
        case on
        case off
    }

    /// Who this device shows itself to be.
    let identity: Identity
    /// What kind of device this is.
    let type = DeviceType.ofThisMachine()
    /// The devices that are trusted.
    let trust: TrustStore
    /// What goes over each connection before TLS.
    let opening = Opening()
    /// Why somebody was refused or not reached.
    let refusals: Refusals
    var handoff = Switch.unknown
    private var names = PeerNames()

    init(_ identity: Identity, _ trust: TrustStore, _ refusals: Refusals = Refusals()) {
        (self.identity, self.trust, self.refusals) = (identity, trust, refusals)
    }

    /// The id of this device.
    var ownID: DeviceID { identity.device }
    /// Whether Handoff is on: while it is not, nobody is dialled, let in or paired.
    var isOn: Bool { handoff == .on }
    /// Whether the user has switched Handoff off.
    var isSwitchedOff: Bool { handoff == .off }

    func isTrusted(_ device: DeviceID) -> Bool { trust[device] != nil }

    /// What `device` is called in messages: its name or the start of its id. Somebody else chose the name, so
    /// quotation marks show where it ends.
    func label(of device: DeviceID) -> String {
        names.name(of: device).map { ChosenText(name: $0).quoted } ?? String(device.description.prefix(8))
    }

    /// `device` calls itself `own`.
    /// - Returns: what it is shown as, which no other device is.
    func name(_ device: DeviceID, _ own: String) -> String { names.name(device, own) }

    /// `device` is not shown any more.
    func forgetName(of device: DeviceID) { names.remove(device) }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

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
    /// The devices that have ended the pairing with this one, and were not trusted again since; the latest last.
    private(set) var endedPairings: [(device: DeviceID, name: String)] = []
    /// How many of them are remembered.
    private static let maximumEnded = 16
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

    /// `device`, which was called `name`, has ended the pairing.
    func noteEndedPairing(_ device: DeviceID, name: String) {
        endedPairings.removeAll { $0.device == device }
        endedPairings.append((device: device, name: name))
        if endedPairings.count > Self.maximumEnded { endedPairings.removeFirst() }
    }

    /// `device` is trusted again.
    /// - Returns: whether it had ended the pairing before.
    func forgetEndedPairing(_ device: DeviceID) -> Bool {
        let count = endedPairings.count
        endedPairings.removeAll { $0.device == device }
        return endedPairings.count != count
    }

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

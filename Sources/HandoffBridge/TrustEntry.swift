// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// A device that this one trusts.
struct TrustEntry: Hashable, Sendable {
    /// How it came to be trusted.
    enum Source: String, Sendable {
        /// By `Trust`: its id was entered by hand.
        case trust
        /// By comparing a code.
        case pairing
    }

    /// The device.
    let device: DeviceID
    /// What it calls itself, or what the user called it; may be empty.
    var name: String
    /// What kind of device it is; may be empty.
    var type: String
    /// How it came to be trusted.
    var source: Source
    /// Where it was reached, the latest first.
    var addresses: [NetworkAddress]
    /// Whether it has ever said that it trusts this device.
    var isMutual: Bool
    /// What both know and nobody else; nil until there was a link.
    var secret: PeerSecret?
    /// The one before, which the device may still have; nil once it has shown the other.
    var formerSecret: PeerSecret?

    /// How many addresses are remembered.
    static let maximumAddresses = 4

    init(
        _ device: DeviceID, name: String = "", type: String = "", source: Source,
        addresses: [NetworkAddress] = [], isMutual: Bool = false, secret: PeerSecret? = nil,
        formerSecret: PeerSecret? = nil
    ) {
        self.device = device
        self.name = name
        self.type = type
        self.source = source
        self.addresses = addresses
        self.isMutual = isMutual
        self.secret = secret
        self.formerSecret = formerSecret
    }

    /// Those secrets that there are, the latest first.
    var secrets: [PeerSecret] { [secret, formerSecret].compactMap { $0 } }

    /// From now on both know `new`; until that is certain, the one counts too that the device has named by `id`, or else
    /// the one before.
    mutating func agree(on new: PeerSecret, named id: [UInt8] = []) {
        guard new != secret else { return }
        (secret, formerSecret) = (new, secrets.first { $0.id == id } ?? secret)
    }

    /// Takes down that the device was reached at `address`.
    mutating func remember(_ address: NetworkAddress) {
        addresses = Array(([address] + addresses.filter { $0 != address }).prefix(Self.maximumAddresses))
    }

    /// Whether the device's word that it does not trust this one ends the trust: not before it ever did, when
    /// it was entered by hand, since both sides have to do that and one is the first.
    var endsWithPeersTrust: Bool { source == .pairing || isMutual }
}

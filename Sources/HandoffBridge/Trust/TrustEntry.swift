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
    /// Since when it has been trusted, in microseconds since the Unix epoch: of two that call themselves alike, the one that
    /// came first is shown so.
    var since: Int64
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
    /// Whether its id was entered and there was no paired link since: then either may knock with what the ids tell.
    var awaitsLink: Bool
    /// What both know and nobody else; nil until there was a link.
    private(set) var secret: PeerSecret?
    /// Since when, in microseconds since the Unix epoch; 0 without a secret.
    private(set) var secretSince: Int64
    /// The one before, which the device may still have; nil once it has shown the other.
    var formerSecret: PeerSecret?

    /// How many addresses are remembered.
    static let maximumAddresses = 4

    init(
        _ device: DeviceID, since: Int64 = 0, name: String = "", type: String = "", source: Source,
        addresses: [NetworkAddress] = [], isMutual: Bool = false, awaitsLink: Bool = false,
        secret: PeerSecret? = nil, secretSince: Int64 = 0, formerSecret: PeerSecret? = nil
    ) {
        self.device = device
        self.since = since
        self.name = name
        self.type = type
        self.source = source
        self.addresses = addresses
        self.isMutual = isMutual
        self.awaitsLink = awaitsLink
        self.secret = secret
        self.secretSince = secretSince
        self.formerSecret = formerSecret
    }

    /// Those secrets that there are, the latest first.
    var secrets: [PeerSecret] { [secret, formerSecret].compactMap { $0 } }

    /// For how long, in microseconds, one secret is used: by it the device can be recognised.
    static let secretLife: Int64 = 86_400 * 1_000_000

    /// How many secrets there may be to knock with.
    static let maximumSecrets = 3

    /// What the device may knock with, and is knocked for with, at `ours`.
    func knockSecrets(as ours: DeviceID) -> [PeerSecret] {
        secrets + (awaitsLink ? [PeerSecret(trustBetween: ours, and: device)] : [])
    }

    /// Whether the secret is to be replaced at `now`, microseconds since the Unix epoch: it is older than a day, or from
    /// the future.
    func isSecretOld(at now: Int64) -> Bool {
        let (age, overflow) = now.subtractingReportingOverflow(secretSince)
        return secret != nil && (overflow || age < 0 || age > Self.secretLife)
    }

    /// From `now` on, microseconds since the Unix epoch, both know `new`; until that is certain, the one counts too that the
    /// device has named by `id`, or else the one before.
    mutating func agree(on new: PeerSecret, named id: [UInt8] = [], at now: Int64) {
        guard new != secret else { return }
        (secret, formerSecret) = (new, secrets.first { $0.id == id } ?? secret)
        secretSince = now
    }

    /// Remembers that the device was reached at `address`.
    mutating func remember(_ address: NetworkAddress) {
        addresses = Array(([address] + addresses.filter { $0 != address }).prefix(Self.maximumAddresses))
    }

    /// Whether the device's word that it does not trust this one ends the trust: not before it ever did, when
    /// it was entered by hand, since both sides have to do that and one is the first.
    var endsWithPeersTrust: Bool { source == .pairing || isMutual }
}

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

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// A device that this one trusts.
struct TrustEntry: Hashable, Sendable {
    /// How it came to be trusted.
    enum Source: String, Sendable {
        /// By `Trust`, with an id that was entered by hand.
        case trust
        /// By comparing a code.
        case pairing
        /// Because a peer has introduced it, and the user has accepted that.
        case introduction
    }

    /// The device.
    let device: DeviceID
    /// Since when it has been trusted, in microseconds since the Unix epoch: of two devices with the same
    /// name, the one that was trusted first is shown under it.
    var since: Int64
    /// The name that the device gives itself, or that the user gave it; may be empty.
    var name: String
    /// What kind of device it is; may be empty.
    var type: String
    /// How it came to be trusted.
    var source: Source
    /// Where it was reached, the latest first.
    var addresses: [NetworkAddress]
    /// Whether the device has ever said that it trusts this one.
    var isMutual: Bool
    /// Whether the id was entered by hand, or introduced, and the device has not named the secret of a link since: until then
    /// both may knock with the secret that is made from the ids. It may not know of the link.
    var awaitsLink: Bool
    /// Whether the user does not want to be shown what the device sends.
    var isMuted = false
    /// The peers whose users have unpaired it, which is known to the user here, who keeps it.
    var keptDespite: Set<DeviceID> = []
    /// Where the device has said last that it can be reached from other networks.
    private(set) var places: [KnockDestination] = []
    /// When it said so, in microseconds since the Unix epoch; 0 if there are none.
    private(set) var placesSince: Int64 = 0
    /// The secret that both devices share; nil until there was a link.
    private(set) var secret: PeerSecret?
    /// Since when they have shared it, in microseconds since the Unix epoch; 0 without a secret.
    private(set) var secretSince: Int64
    /// The secret before that, which the device may still have; nil once it has shown the new one.
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

    /// The secrets that there are, the latest first.
    var secrets: [PeerSecret] { [secret, formerSecret].compactMap { $0 } }

    /// For how long, in microseconds, one secret is used, since the device can be recognised by it.
    static let secretLife = day

    /// How many secrets there may be to knock with.
    static let maximumSecrets = 3

    /// The secrets with which the device and this one, whose id is `ours`, may knock at each other.
    func knockSecrets(as ours: DeviceID) -> [PeerSecret] {
        secrets + (awaitsLink ? [PeerSecret(trustBetween: ours, and: device)] : [])
    }

    /// Whether the secret is to be replaced at `now`, in microseconds since the Unix epoch, because it is
    /// older than a day, or from the future.
    func isSecretOld(at now: Int64) -> Bool {
        let (age, overflow) = now.subtractingReportingOverflow(secretSince)
        return secret != nil && (overflow || age < 0 || age > Self.secretLife)
    }

    /// From `now` on, in microseconds since the Unix epoch, both devices share `new`. Until that is certain,
    /// the secret that the device has named by `id` counts too, or else the one before.
    mutating func agree(on new: PeerSecret, named id: [UInt8] = [], at now: Int64) {
        guard new != secret else { return }
        (secret, formerSecret) = (new, secrets.first { $0.id == id } ?? secret)
        secretSince = now
    }

    /// Remembers that the device was reached at `address`.
    mutating func remember(_ address: NetworkAddress) {
        addresses = Array(([address] + addresses.filter { $0 != address }).prefix(Self.maximumAddresses))
    }

    /// For how long what a device has said of its places counts, in microseconds.
    static let lifeOfPlaces = 30 * day
    /// In microseconds.
    static let day: Int64 = 86_400 * 1_000_000

    /// The device has said at `now`, in microseconds since the Unix epoch, that it can be reached at `new`.
    mutating func remember(places new: [KnockDestination], at now: Int64) {
        // What is said again and again is written down once a day.
        guard new != places || now < placesSince || now - placesSince > Self.day else { return }
        (places, placesSince) = (new, new.isEmpty ? 0 : now)
    }

    /// Where the device can be reached from other networks, as far as it has said so within ``lifeOfPlaces`` before `now`.
    func places(at now: Int64) -> [NetworkAddress] {
        guard placesSince >= 0, placesSince <= now, now - placesSince < Self.lifeOfPlaces else { return [] }
        return places.compactMap(\.address)
    }

    /// Whether the user has accepted that a peer introduces the device, and there has been no link with it as a peer yet.
    var awaitsAcceptance: Bool { source == .introduction && awaitsLink && !isMutual }

    /// There is a link on which both trust each other. Where others have said that the device is counts no longer.
    mutating func linked() {
        if awaitsAcceptance { remember(places: [], at: 0) }
        isMutual = true
    }

    /// The device has named its secret by `id`. If that is the latest, what came before is needed no longer.
    mutating func named(_ id: [UInt8]) {
        if secret?.id == id { (formerSecret, awaitsLink) = (nil, false) }
    }

    /// Whether the trust ends when the device says that it does not trust this one. If its id was entered by
    /// hand, it does not end until the device has trusted this one at least once, since both ids have to be
    /// entered and one is entered first.
    var endsWithPeersTrust: Bool { source == .pairing || isMutual }
}

/// A device with which the user does not want to pair, whoever introduces it.
struct DeclinedDevice: Hashable, Sendable {
    /// The device.
    let device: DeviceID
    /// When the user said so, in microseconds since the Unix epoch.
    let since: Int64
    /// Whether the user has unpaired it; otherwise it was introduced and declined, or has ended the pairing itself.
    let isUnpaired: Bool

    /// How many are kept, and of those that were unpaired; if there are more, the oldest go.
    static let maximum = 62
    /// For how long one counts, in microseconds.
    private static let life = 365 * TrustEntry.day
    /// For how long peers are told that it was unpaired, in microseconds.
    private static let lifeOfRetraction = 30 * TrustEntry.day

    /// Whether it counts at `now`, in microseconds since the Unix epoch. One from the future does not.
    func isAlive(at now: Int64) -> Bool { isWithin(Self.life, at: now) }

    /// Whether peers are told at `now` that the user has unpaired it.
    func isRetracted(at now: Int64) -> Bool { isUnpaired && isWithin(Self.lifeOfRetraction, at: now) }

    private func isWithin(_ life: Int64, at now: Int64) -> Bool {
        since >= 0 && since <= now && now - since < life
    }
}

/// What is kept of a device that was unpaired: enough to tell it so when it comes again.
struct Tombstone: Hashable, Sendable {
    /// The device.
    let device: DeviceID
    /// The secret that both devices shared.
    let secret: PeerSecret
    /// When it was unpaired, in microseconds since the Unix epoch.
    let since: Int64

    /// For how long a tombstone is kept, in microseconds.
    static let life = 30 * TrustEntry.day
    /// How many are kept; if there are more, the oldest go.
    static let maximum = 16

    /// Whether the tombstone is still of use at `now`, in microseconds since the Unix epoch. One from the
    /// future is not.
    func isAlive(at now: Int64) -> Bool { since >= 0 && since <= now && now - since < Self.life }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop
internal import Platform

/// The devices that this one trusts, in memory and in a file that is always whole.
@MainLoop
final class TrustStore {
    /// The name of the file in the state folder.
    nonisolated static let fileName = "trust"
    /// How many devices can be trusted.
    nonisolated static let maximumPeers = 62

    private(set) var entries: [DeviceID: TrustEntry] = [:] {
        didSet { if peerSecrets != Self.secrets(oldValue) { secretsChanged?() } }
    }
    /// Called when a secret that is shared with a peer has changed, was added or was removed.
    var secretsChanged: (@MainLoop () -> Void)?
    private let folder: StateFolder
    private let path: String
    /// What is kept of the devices that were unpaired, the oldest first.
    private(set) var tombstones: [Tombstone] = []
    /// The devices with which the user does not want to pair, the oldest first.
    private var declined: [DeclinedDevice] = []
    private var saving: LoopSource?

    private static let risk =
        "Others could see the peers and follow this device from network to network, and who could write could add peers."
        + " Look through them, unpair those that you do not know, and pair the others again."

    /// How long a minor change may wait, so that others are written with it.
    private static let patience = Duration.seconds(2)

    /// The longest wait before writing is tried again.
    private static let longestWait = Duration.seconds(300)
    private var wait = patience

    /// The store in `folder`, as yet empty.
    init(in folder: StateFolder) {
        self.folder = folder
        path = folder.file(Self.fileName)
    }

    /// Reads the file; an absent one is empty. The folder must be locked.
    /// - Throws: ``StartFailure`` if it is damaged, which sets it aside, or cannot be read.
    func load() throws {
        do {
            guard let bytes = try folder.read(Self.fileName, risk: Self.risk) else { return }
            let contents = try TrustFile.parse(try KeyFile(bytes: bytes, name: path))
            for entry in contents.entries { entries[entry.device] = entry }
            tombstones = contents.tombstones.filter { $0.isAlive(at: MainLoop.wallClock) }
            declined = contents.declined
        } catch let error as TrustFile.Newer {
            throw StartFailure(
                "\(path) has version \(error.version), later than this program's. Use a later one.")
        } catch let error as KeyFileError where !error.isDamage {
            throw StartFailure(error.description)
        } catch let error as UnsafeFile {
            throw StartFailure(error.description)
        } catch {
            let aside = try StateFolder.setAside(path) ?? path
            throw StartFailure(
                "The list of peers, \(path), is damaged: \(error). It was kept as \(aside)."
                    + " Restore it from a backup, or start again without peers, and pair again.")
        }
    }

    /// The devices that are trusted, in the order in which they became trusted.
    var devices: [DeviceID] {
        entries.values.sorted { ($0.since, $0.device) < ($1.since, $1.device) }.map(\.device)
    }

    subscript(device: DeviceID) -> TrustEntry? { entries[device] }

    /// The secrets by which devices are recognized before TLS at `ours`, the id of this device: those of
    /// peers, those of some former peers that have to be told that they are no longer peers, and, for devices
    /// whose ids were entered by hand, or that were introduced, those that are made from the ids.
    func knockSecrets(as ours: DeviceID) -> [(device: DeviceID, secret: PeerSecret)] {
        entries.values.flatMap { entry in entry.knockSecrets(as: ours).map { (entry.device, $0) } }
            + tombstones.map { ($0.device, $0.secret) }
    }

    /// The secrets that are shared with peers, the latest of each.
    var peerSecrets: [PeerSecret] { Self.secrets(entries) }

    private static func secrets(_ entries: [DeviceID: TrustEntry]) -> [PeerSecret] {
        entries.values.compactMap(\.secret).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// The secrets that are or were shared with peers, and with which peer.
    var allPeerSecrets: [(device: DeviceID, secret: PeerSecret)] {
        entries.values.flatMap { entry in entry.secrets.map { (entry.device, $0) } }
    }

    /// - Throws: `LimitsExceeded` if `device` is not trusted yet, and as many devices are trusted as can be.
    func checkRoom(for device: DeviceID) throws(HandoffFailure) {
        guard entries[device] == nil, entries.count >= Self.maximumPeers else { return }
        throw HandoffFailure(
            .limitsExceeded, "There are \(Self.maximumPeers) peers already. Unpair one of them first.")
    }

    /// Adds or replaces an entry; returns once that is safe on disk.
    /// - Throws: if there are too many entries, or this one cannot be written; then nothing has changed.
    func put(_ entry: TrustEntry) throws {
        try checkRoom(for: entry.device)
        var (changed, entry) = (entries, entry)
        entry.since = entries[entry.device]?.since ?? MainLoop.wallClock
        if entry.secrets.isEmpty {
            // A device that was away when it was unpaired has not heard of that, and may trust this one still.
            entry.formerSecret = tombstones.last { $0.device == entry.device }?.secret
        }
        changed[entry.device] = entry
        let others = tombstones.filter { $0.device != entry.device }
        let unwanted = declined.filter { $0.device != entry.device }
        try save(changed, others, unwanted)
        (entries, tombstones, declined) = (changed, others, unwanted)
    }

    /// The user does not want to pair with `device`, whoever introduces it; returns once that is safe on disk.
    /// - Throws: if it cannot be written; then nothing has changed.
    func decline(_ device: DeviceID) throws {
        let changed = declining(device, isUnpaired: false)
        try save(entries, tombstones, changed)
        declined = changed
    }

    /// Whether the user does not want to pair with `device`, whoever introduces it.
    func isDeclined(_ device: DeviceID) -> Bool {
        declined.contains { $0.device == device && $0.isAlive(at: MainLoop.wallClock) }
    }

    /// The devices that the user has unpaired, of which peers are told.
    var unpairedByUser: [DeviceID] {
        declined.filter { $0.isRetracted(at: MainLoop.wallClock) }.suffix(Self.maximumPeers - 1)
            .map(\.device)
    }

    private func declining(_ device: DeviceID, isUnpaired: Bool) -> [DeclinedDevice] {
        let now = MainLoop.wallClock
        let others = declined.filter { $0.device != device && $0.isAlive(at: now) }
        // What is declined pushes out nothing of which peers are told.
        let same = others.filter { $0.isUnpaired == isUnpaired }.suffix(DeclinedDevice.maximum - 1)
        return others.filter { $0.isUnpaired != isUnpaired } + same
            + [DeclinedDevice(device: device, since: now, isUnpaired: isUnpaired)]
    }

    /// Makes the device of `entry` trusted by a pairing; returns once that is safe on disk. A secret that the device had before
    /// remains valid until it has shown the new one, and what the user has chosen stays.
    /// - Throws: what ``put(_:)`` throws; then the device is not trusted.
    func pair(_ entry: TrustEntry) throws {
        var entry = entry
        entry.formerSecret = entries[entry.device]?.secret
        entry.isMuted = entries[entry.device]?.isMuted ?? false
        entry.keptDespite = entries[entry.device]?.keptDespite ?? []
        do {
            try put(entry)
        } catch {
            // The other side may have stored the pairing: with this secret it can be told, when it comes,
            // that there is none.
            if let secret = entry.secret { bury(entry.device, secret) }
            throw error
        }
    }

    /// Removes the entry of `device` at once, except what is needed to tell it so. If that cannot be written,
    /// it is tried again. Whoever introduces the device, the user is not asked whether to pair with it again.
    /// - Parameter isByUser: whether the user has unpaired it, of which peers are told; otherwise the device has ended the pairing.
    func remove(_ device: DeviceID, isByUser: Bool) {
        guard let entry = entries.removeValue(forKey: device) else { return }
        // A yes that is taken back before anything came of it concerns nobody else.
        declined = declining(device, isUnpaired: isByUser && entry.isMutual)
        for (other, entry) in entries where entry.keptDespite.contains(device) {
            entries[other]?.keptDespite.remove(device)
        }
        tombstones.removeAll { $0.device == device }
        bury(device, entry.secrets)
    }

    /// Keeps a secret that a device may believe it shares with this one, so that it can be told that it does
    /// not.
    func bury(_ device: DeviceID, _ secret: PeerSecret) { bury(device, [secret]) }

    private func bury(_ device: DeviceID, _ secrets: [PeerSecret]) {
        let now = MainLoop.wallClock
        tombstones.removeAll { !$0.isAlive(at: now) }
        tombstones += secrets.map { Tombstone(device: device, secret: $0, since: now) }
        tombstones = tombstones.suffix(Tombstone.maximum)
        saveNow()
    }

    /// Changes what is known about a trusted device. The change is written at once if it matters after a
    /// restart, otherwise a little later.
    func note(_ device: DeviceID, _ change: (inout TrustEntry) -> Void) {
        guard var entry = entries[device] else { return }
        change(&entry)
        guard let former = entries.updateValue(entry, forKey: device), entry != former else { return }
        if entry.addresses != former.addresses || entry.isMutual != former.isMutual
            || entry.secrets != former.secrets || entry.awaitsLink != former.awaitsLink
            || entry.keptDespite != former.keptDespite
        {
            saveNow()
        } else {
            saveLater()
        }
    }

    /// Writes what waits to be written.
    func flush() { if saving != nil { saveNow() } }

    private func saveLater() {
        if saving != nil { return }
        saving = .timer(after: wait) { [weak self] in self?.saveNow() }
    }

    private func saveNow() {
        saving?.cancel()
        saving = nil
        do {
            try save(entries, tombstones, declined)
        } catch {
            // One warning is enough until writing succeeds again.
            if wait == Self.patience { bridgeLog.warning("\(error) Trying again.") }
            wait = min(wait * 2, Self.longestWait)
            saveLater()
        }
    }

    private func save(
        _ entries: [DeviceID: TrustEntry], _ tombstones: [Tombstone], _ declined: [DeclinedDevice]
    ) throws {
        try TrustFile.render(entries.values, tombstones, declined).save(to: path)
        wait = Self.patience
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

/// The devices that this one trusts, in memory and in a file that is always whole.
@MainLoop
final class TrustStore {
    /// The name of the file in the state folder.
    nonisolated static let fileName = "trust"
    /// How many devices can be trusted.
    nonisolated static let maximumPeers = 62

    private(set) var entries: [DeviceID: TrustEntry] = [:]
    private let path: String
    private var saving: LoopSource?

    /// How long what is merely noticed may wait for others to be written with it.
    private static let patience = Duration.seconds(2)

    /// The store in `folder`, as yet empty.
    init(in folder: StateFolder) { path = folder.file(Self.fileName) }

    /// Reads the file; an absent one is empty. The folder must be locked.
    /// - Throws: ``StartFailure`` if it is damaged, which sets it aside, or cannot be read.
    func load() throws {
        do {
            guard let file = try KeyFile.load(path) else { return }
            for entry in try TrustFile.parse(file) { entries[entry.device] = entry }
        } catch let error as TrustFile.Newer {
            throw StartFailure(
                "\(path) has version \(error.version), later than this program's. Use a later one.")
        } catch let error as KeyFileError where !error.isDamage {
            throw StartFailure(error.description)
        } catch {
            let aside = try StateFolder.setAside(path) ?? path
            throw StartFailure(
                "The list of peers, \(path), is damaged: \(error). It was kept as \(aside)."
                    + " Restore it from a backup, or start again without peers, and pair again.")
        }
    }

    subscript(device: DeviceID) -> TrustEntry? { entries[device] }

    /// Adds or replaces an entry; returns when that is safe on disk.
    /// - Throws: if it cannot be written; then nothing has changed.
    func put(_ entry: TrustEntry) throws {
        var changed = entries
        changed[entry.device] = entry
        try save(changed)
        entries = changed
    }

    /// Removes the entry of `device`, at once. If that cannot be written it is tried again.
    func remove(_ device: DeviceID) {
        guard entries.removeValue(forKey: device) != nil else { return }
        saveNow()
    }

    /// Changes what is merely known of a device that is trusted: written at once if a restart depends on it,
    /// otherwise a little later.
    func note(_ device: DeviceID, _ change: (inout TrustEntry) -> Void) {
        guard var entry = entries[device] else { return }
        change(&entry)
        guard let former = entries.updateValue(entry, forKey: device), entry != former else { return }
        if entry.addresses != former.addresses || entry.isMutual != former.isMutual {
            saveNow()
        } else {
            saveLater()
        }
    }

    /// Writes what waits to be written.
    func flush() { if saving != nil { saveNow() } }

    private func saveLater() {
        if saving != nil { return }
        saving = .timer(after: Self.patience) { [weak self] in self?.saveNow() }
    }

    private func saveNow() {
        saving?.cancel()
        saving = nil
        do {
            try save(entries)
        } catch {
            bridgeLog.warning("\(error) Trying again.")
            saveLater()
        }
    }

    private func save(_ entries: [DeviceID: TrustEntry]) throws {
        try TrustFile.render(entries.values).save(to: path)
    }
}

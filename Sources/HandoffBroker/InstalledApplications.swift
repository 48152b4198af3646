// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

/// Keeps the registry in line with the desktop entries of this machine.
@MainLoop
final class InstalledApplications {
    private unowned let broker: Broker
    private var isLoaded = false
    private lazy var watch = FolderWatch { [weak self] in self?.changed() }
    private var isExpecting = false
    private lazy var timer = DeadlineTimer { [weak self] in self?.load() }

    /// How long after the first change it is waited for more: an installation writes many files.
    private static let patience: Int64 = 200_000

    init(_ broker: Broker) { self.broker = broker }

    /// Sees to it that the entries have been read.
    func loadOnce() {
        if !isLoaded { load() }
    }

    private func changed() {
        // A folder that never comes to rest is read again and again, not never.
        guard !isExpecting else { return }
        isExpecting = true
        timer.set(MainLoop.now + Self.patience)
    }

    private func load() {
        (isLoaded, isExpecting) = (true, false)
        // Watched before they are read: what changes meanwhile is read again.
        watch.watch(UserDirectories.applications)
        let contents = ApplicationFolders.look()
        watch.watch(contents.folders)
        brokerLog.debug("\(contents.applications.count) installed applications take part.")
        broker.setInstalled(contents.applications)
    }
}

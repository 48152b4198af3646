// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// The shared folders of this machine: those that the user has named, and those of sync clients.
///
/// The configurations of the clients are looked at whenever the folders are needed, and not watched: clients write into
/// those places all the time, which would wake the broker for nothing.
@MainLoop
final class KnownFolders {
    private let preferences: Preferences
    private var clients = SyncClients()
    /// The folders of the clients, of which the log has been told.
    private var known: [SharedFolder] = []
    private var look: Task<Void, Never>?
    private let looks: FileLooks

    /// The folders of a user who has chosen this.
    init(_ preferences: Preferences, _ looks: FileLooks) {
        (self.preferences, self.looks) = (preferences, looks)
    }

    /// The folders as they are now. If the file system does not say so in time, those that were known last.
    func current() async -> SharedFolders {
        let look = look ?? begin()
        await look.value
        return SharedFolders(chosen: preferences.sharedFolders.folders, found: clients.folders)
    }

    private func begin() -> Task<Void, Never> {
        let former = clients
        let look = MainLoop.start { [self] in
            let seen = await looks.look(.syncClients) {
                var clients = former
                clients.look()
                return clients
            }
            if let seen { took(seen) }
            self.look = nil
        }
        self.look = look
        return look
    }

    private func took(_ seen: SyncClients) {
        clients = seen
        guard known != seen.folders else { return }
        known = seen.folders
        let list = known.map { "\(PeerText.message($0.name))" }.joined(separator: ", ")
        brokerLog.debug("Sync clients share \(known.count) folders: \(list)")
    }

    /// What is known of the files that `state` names; nil if it names none, or if no folder here is shared.
    func files(namedIn state: ActivityState) async -> NamedFiles? {
        let url = state.documentURL
        guard !url.isEmpty || state.userInfo.mayHoldFileURLs else { return nil }
        let folders = await current()
        guard !folders.isEmpty else { return nil }
        guard !url.isEmpty else { return NamedFiles(folders: folders, document: nil) }
        let folder = url.lastIndex(of: "/").map { String(url[..<$0]) } ?? url
        let document = await looks.look(.namedDocument, of: folder) { DocumentPlace(url, among: folders) }
        return NamedFiles(folders: folders, document: document.flatMap { $0 })
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// Makes activities of what windows show. What an application says of itself may be anything, so whatever is offered has been
/// looked at here.
@MainLoop
struct DocumentActivities {
    private let reading: ActivityType
    private let browsing: ActivityType
    private let looks: FileLooks

    /// Activities of what `looks` finds.
    init(_ looks: FileLooks) throws(HandoffFailure) {
        reading = try ActivityType(DocumentsAdapter.reading)
        browsing = try ActivityType(DocumentsAdapter.browsing)
        self.looks = looks
    }

    /// The types of all of them.
    var types: [ActivityType] { [reading, browsing] }

    /// What can be continued of `place`, which `window` shows; nil if nothing can.
    /// - Parameter shared: the folders that other devices have as well.
    func activity(of place: ShownPlace, in window: ViewerWindow, shared: SharedFolders) async
        -> ShownActivity?
    {
        switch place {
        case .document(let path): await document(path, window)
        case .folder(let path): folder(path, window, shared)
        }
    }

    private func document(_ path: ViewedPath, _ window: ViewerWindow) async -> ShownActivity? {
        var path = path
        if let flatpak = window.flatpak {
            guard let own = path.seen(byFlatpak: flatpak, runtime: UserDirectories.runtime) else {
                return nil
            }
            path = own
        }
        guard await DocumentFile.isDocument(path, looks), let url = path.url else { return nil }
        let userInfo = Self.userInfo(window.application, page: nil)
        return ShownActivity(
            url, in: window.key, type: reading,
            properties: [
                "Title": .string(PeerText.title(path.name)), "DocumentURL": .string(url),
                "UserInfo": userInfo,
            ])
    }

    private func folder(_ path: ViewedPath, _ window: ViewerWindow, _ shared: SharedFolders) -> ShownActivity?
    {
        // A sandboxed file manager could name folders that it cannot see.
        guard window.flatpak == nil, shared.item(at: Array(path.text.utf8)) != nil, let url = path.url,
            let tagged = try? Value.structure([.string(UserInfoRules.urlTag), .variant(.string(url))])
        else { return nil }
        let userInfo = Value.properties([
            DocumentKey.application: .string(window.application.description), DocumentKey.folder: tagged,
        ])
        return ShownActivity(
            url, in: window.key, type: browsing,
            properties: ["Title": .string(PeerText.title(path.name)), "UserInfo": userInfo])
    }

    /// What is said of a document beside where it is.
    static func userInfo(_ application: ApplicationID, page: PageNumber?) -> Value {
        var entries: [String: Value] = [DocumentKey.application: .string(application.description)]
        entries[DocumentKey.page] = page?.value
        return .properties(entries)
    }
}

/// A file that is said to be a document.
enum DocumentFile {
    /// Whether there is a document with pages at `path`, which this user may read.
    @MainLoop
    static func isDocument(_ path: ViewedPath, _ looks: FileLooks) async -> Bool {
        await looks.look(.namedDocument, of: path.text) { format(of: path) != nil } ?? false
    }

    /// What kind of document is at `path`; nil if none is. This blocks as long as the file system does.
    static func format(of path: ViewedPath) -> DocumentFormat? {
        guard let head = try? FileHead(of: path.text, count: DocumentFormat.head) else { return nil }
        return DocumentFormat(name: head.name, bytes: head.bytes)
    }

    /// Whether there is a folder at `path`.
    @MainLoop
    static func isFolder(_ path: ViewedPath, _ looks: FileLooks) async -> Bool {
        await looks.look(.namedDocument, of: path.text) { ProgramFiles.isFolder(path.text) } ?? false
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// Opens here what another device showed. All that comes from there is data: a document that the broker has delivered, a page
/// that is a number, an application that is looked for among those that are known, and a folder that is shared.
@MainLoop
struct DocumentOpener {
    private let service: AdapterService
    private let viewers: [any DocumentViewer]
    private let looks: FileLooks
    private let starter: ProgramStarter

    /// How long a program runs before that counts as success.
    private static let opening = Duration.seconds(1)
    /// How many windows are asked whether they show the document already.
    private static let maximumAsked = 8
    /// How long a file manager may take to start and show a folder.
    private static let folderPatience = Duration.seconds(10)

    /// Opens documents in these viewers.
    init(_ service: AdapterService, _ viewers: [any DocumentViewer], _ looks: FileLooks) {
        (self.service, self.viewers, self.looks) = (service, viewers, looks)
        starter = ProgramStarter(service.bus, looks, adapterLog)
    }

    /// Opens what is handed over, in one of the windows that there are or in a new one.
    /// - Returns: false if the user's default application for such documents is to open it.
    /// - Throws: why it is not to be had here.
    func open(_ handed: HandedActivity, among windows: [ViewerWindow]) async throws -> Bool {
        switch handed.properties["ActivityType"]?.string {
        case DocumentsAdapter.reading: try await openDocument(handed, windows)
        case DocumentsAdapter.browsing: try await openFolder(handed)
        default:
            throw HandoffFailure(
                .notSupported, tr("This is neither a document nor a folder. Continue something else."))
        }
    }

    // MARK: Documents

    private func openDocument(_ handed: HandedActivity, _ windows: [ViewerWindow]) async throws -> Bool {
        guard let url = handed.properties["DocumentURL"]?.string, let path = ViewedPath(url: url) else {
            throw HandoffFailure(
                .notSupported,
                tr(
                    "The document was not brought over. Open it on the device that it comes from, and try again."
                ))
        }
        let wanted = handed.userInfo[DocumentKey.application]?.string
        guard let viewer = viewers.first(where: { $0.id.description == wanted }),
            !service.isExcluded(viewer.id),
            await DocumentFile.isDocument(path, looks)
        else { return false }
        let page = PageNumber(handed.userInfo[DocumentKey.page])
        let own = windows.filter { $0.application == viewer.id }
        if let page, await turn(viewer, path, page, own) { return true }
        let name = viewer.program
        let program = await looks.look(.starting, of: name) { ProgramFiles.find(name) }
        guard let program = program ?? nil else { return false }
        try await start(viewer, program, path, page, handed.activationToken)
        return true
    }

    /// Turns a window that shows the document to the page. Whether there is one.
    private func turn(
        _ viewer: any DocumentViewer, _ path: ViewedPath, _ page: PageNumber, _ windows: [ViewerWindow]
    ) async -> Bool {
        for window in windows.reversed().prefix(Self.maximumAsked) where window.flatpak == nil {
            if await viewer.shown(in: window) == .document(path), await viewer.turn(window, to: page) {
                return true
            }
        }
        return false
    }

    private func start(
        _ viewer: any DocumentViewer, _ program: String, _ path: ViewedPath, _ page: PageNumber?,
        _ token: String
    ) async throws {
        let launch = Launch(
            viewer.id, program: program, arguments: [viewer.program] + viewer.arguments(path, page),
            activationToken: token)
        try await starter.running(launch) { program in
            try await program.check(within: Self.opening, " instead of opening the document")
        }
    }

    // MARK: Folders

    private func openFolder(_ handed: HandedActivity) async throws -> Bool {
        guard let path = Self.folder(handed.userInfo),
            service.sharedFolders.item(at: Array(path.text.utf8)) != nil,
            let url = path.url
        else {
            throw HandoffFailure(
                .notSupported,
                tr(
                    "The folder is not in a folder that both devices share. Add the shared folder in the "
                        + "settings of both, under the same name."))
        }
        guard await DocumentFile.isFolder(path, looks) else {
            throw HandoffFailure(
                .notSupported,
                tr("There is no such folder here yet. Wait until it has been synchronised, then try again."))
        }
        // One that does not start in time is none that does so when it is asked to.
        let manager = try? await service.bus.identifiedOwner(
            starting: Nautilus.manager, timeout: Self.folderPatience)
        guard let manager, manager.sandbox == nil, let name = manager.name else {
            throw HandoffFailure(
                .applicationFailed,
                tr("There is no file manager that other programs can ask to show a folder. Install one."))
        }
        _ = try await RemoteObject(service.bus.connection, name, Nautilus.path)
            .call(Nautilus.interface, "ShowFolders", output: "", timeout: Self.folderPatience) {
                (writer) throws(DBusError) in
                try writer.write([url])
                try writer.write(Launch.usable(handed.activationToken) ?? "")
            }
        return true
    }

    /// The folder that `userInfo` names, as the broker has delivered it.
    static func folder(_ userInfo: [String: Value]) -> ViewedPath? {
        guard case .structure(let tagged)? = userInfo[DocumentKey.folder], tagged.fields.count == 2,
            tagged.fields[0] == .string(UserInfoRules.urlTag),
            case .variant(.string(let url)) = tagged.fields[1]
        else { return nil }
        return ViewedPath(url: url)
    }
}

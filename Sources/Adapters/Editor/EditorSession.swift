// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// A running editor, as the application that it is.
@MainLoop
final class EditorSession: PluginSession {
    private let editor: KnownEditor
    private let pipe: PluginPipe<EditorState>
    private let application: AdaptedApplication
    private let looks = FileLooks()
    /// What the plugin said last of where the user is; nil for nowhere.
    private var front: ShownDocument?
    /// The folder of what is shown, if it may be told.
    private var folderShown: String?
    private lazy var latest = Latest<PluginMessage<EditorState>>(every: Self.interval) { [weak self] in
        self?.take($0)
    }

    /// At least this lies between two things that are told to the broker.
    private static let interval = Duration.milliseconds(100)
    /// How long an editor may take to say where it is: less than the broker waits for that.
    private static let savePatience = Duration.milliseconds(1500)
    /// How long an editor may take to open something.
    private static let openPatience = Duration.seconds(10)

    /// The editor whose plugin is at the other end of `pipe`.
    /// - Throws: never for an editor that is known.
    init(_ editor: KnownEditor, _ pipe: PluginPipe<EditorState>) throws(HandoffFailure) {
        (self.editor, self.pipe) = (editor, pipe)
        application = AdaptedApplication(
            try ApplicationID(editor.id), types: [try EditingText.type()], team: try Team(EditingText.team),
            receives: true)
        pipe.onMessage = { [weak self] in self?.latest.come($0) }
        application.onSave = { [weak self] in try await self?.save($0) ?? [:] }
        application.onContinue = { [weak self] in try await self?.continue($0) ?? false }
    }

    var onSteppedBack: (@MainLoop () -> Void)? {
        get { application.onSteppedBack }
        set { application.onSteppedBack = newValue }
    }

    func choose(_ preferences: [String: Value]) {}

    func end() { application.end() }

    // MARK: What the user is at

    private func take(_ message: PluginMessage<EditorState>) {
        switch message {
        case .front(let state):
            front = state.document
            MainLoop.start { [weak self] in await self?.show(state) }
        case .left:
            front = nil
            application.leave()
        case .closed:
            front = nil
            application.showNothing()
        case .state, .opened: break
        }
    }

    private func show(_ state: EditorState) async {
        let document = state.document
        let (path, folder) = (document.path, state.folder)
        let found = await looks.look(.namedDocument, of: path ?? folder ?? "") {
            (url: path.flatMap(UserFile.url), isOwnFolder: folder.map { OwnFolder.look(at: $0) } == .folder)
        }
        // By now the user may be somewhere else.
        guard front == document else { return }
        guard let found, path == nil || found.url != nil, let type = try? EditingText.type() else {
            return application.resign()
        }
        folderShown = found.isOwnFolder ? folder : nil
        if let shown = application.shown, shown.identity == document.identity {
            // Where in the file is asked at each continuation.
            return application.show(shown)
        }
        var properties: [String: Value] = [
            "Title": .string(PeerText.title(document.name)), "UserInfo": userInfo(state),
        ]
        if let url = found.url { properties["DocumentURL"] = .string(url) }
        application.show(ShownActivity(document.identity, type: type, properties: properties))
    }

    /// What is said of `state`: of its folder only if that was looked at.
    private func userInfo(_ state: EditorState) -> Value {
        var state = state
        if state.folder != folderShown { state.folder = nil }
        return EditingText.userInfo(state, in: editor)
    }

    private func save(_ shown: ShownActivity) async throws -> [String: Value] {
        guard case .state(_, let state?)? = await pipe.ask(EditorQuestion.state, within: Self.savePatience)
        else {
            throw HandoffFailure(
                .applicationTimedOut,
                tr(
                    "{editor} does not say where its cursor is. Look there, and try again.",
                    ["editor": editor.name]))
        }
        guard state.document.identity == shown.identity else { return [:] }
        return ["UserInfo": userInfo(state)]
    }

    // MARK: Continuing

    private func `continue`(_ activity: HandedActivity) async throws -> Bool {
        let state = try await EditingText.state(of: activity, looks)
        try await open(state)
        await EditingText.shown(state, activity, looks)
        return true
    }

    func openPending(on bus: Bus) async throws {
        let pending = await bus.takePending(editor.id, of: HandoffNames.editorAdapter)
        if let state = EditingText.pending(pending) { try await open(state) }
    }

    /// Has the editor show something.
    /// - Throws: if it does not.
    private func open(_ state: EditorState) async throws {
        try await pipe.open(
            EditorQuestion.open(state), in: editor.name, within: Self.openPatience,
            refusal: tr(
                "{editor} cannot show the file now: it may be asking you something, or have unsaved changes "
                    + "to that file. Look there, and try again.", ["editor": editor.name]))
    }
}

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
final class EditorSession {
    private let editor: KnownEditor
    private let pipe: PluginPipe
    private let application: AdaptedApplication
    private let looks = FileLooks()
    /// What the plugin said last of where the user is; nil for nowhere.
    private var front: String?
    private lazy var latest = Latest<PluginMessage>(every: Self.interval) { [weak self] in self?.take($0) }

    /// At least this lies between two things that are told to the broker.
    private static let interval = Duration.milliseconds(100)
    /// How long an editor may take to say where it is: less than the broker waits for that.
    private static let savePatience = Duration.milliseconds(1500)
    /// How long an editor may take to open something.
    private static let openPatience = Duration.seconds(10)

    /// The editor whose plugin is at the other end of `pipe`.
    /// - Throws: never for an editor that is known.
    init(_ editor: KnownEditor, _ pipe: PluginPipe) throws(HandoffFailure) {
        (self.editor, self.pipe) = (editor, pipe)
        application = AdaptedApplication(
            try ApplicationID(editor.id), types: [try EditingText.type()], team: try Team(EditingText.team),
            receives: true)
        pipe.onMessage = { [weak self] in self?.latest.come($0) }
        application.onSave = { [weak self] in try await self?.save($0) ?? [:] }
        application.onContinue = { [weak self] in try await self?.continue($0) ?? false }
    }

    /// Called when the editor itself has learnt Handoff.
    var onSteppedBack: (@MainLoop () -> Void)? {
        get { application.onSteppedBack }
        set { application.onSteppedBack = newValue }
    }

    /// Ends its part.
    func end() { application.end() }

    // MARK: What the user is at

    private func take(_ message: PluginMessage) {
        switch message {
        case .front(let state):
            front = state.file
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
        let file = state.file
        let url = await looks.look(.namedDocument, of: file) { EditedFile.url(file) }
        // By now the user may be somewhere else.
        guard front == file else { return }
        guard let url = url ?? nil, let type = try? EditingText.type() else { return application.resign() }
        if let shown = application.shown, shown.identity == file {
            // Where in the file is asked at each continuation.
            return application.show(shown)
        }
        let name = file.split(separator: "/").last.map(String.init) ?? file
        application.show(
            ShownActivity(
                file, type: type,
                properties: [
                    "Title": .string(PeerText.title(name)), "DocumentURL": .string(url),
                    "UserInfo": EditingText.userInfo(state, in: editor),
                ]))
    }

    private func save(_ shown: ShownActivity) async throws -> [String: Value] {
        guard case .state(_, let state?)? = await pipe.ask(.state, within: Self.savePatience) else {
            throw HandoffFailure(
                .applicationTimedOut,
                tr("{editor} does not say where it is. Look there, and try again.", ["editor": editor.name]))
        }
        guard state.file == shown.identity else { return [:] }
        return ["UserInfo": EditingText.userInfo(state, in: editor)]
    }

    // MARK: Continuing

    private func `continue`(_ activity: HandedActivity) async throws -> Bool {
        let state = try await EditingText.state(of: activity, looks)
        try await open(state)
        await EditingText.shown(state, activity, looks)
        return true
    }

    /// Has the editor show something.
    /// - Throws: if it does not.
    func open(_ state: EditorState) async throws {
        switch await pipe.ask(.open(state), within: Self.openPatience) {
        case .opened(_, true)?: return
        case nil:
            throw HandoffFailure(
                .applicationTimedOut,
                tr(
                    "{editor} does not answer; it may be waiting for you. Look there, and try again.",
                    ["editor": editor.name]))
        default:
            throw HandoffFailure(
                .applicationFailed,
                tr(
                    "{editor} cannot show the file now: it may be asking you something, or hold changes of its own to that"
                        + " file. Look there, and try again.", ["editor": editor.name]))
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import CGio
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// What continues texts where no editor runs that can be talked to: it starts one.
@MainLoop
final class EditorCatcher {
    private let service: AdapterService
    private let looks = FileLooks()
    private let starter: ProgramStarter
    private let terminals: TerminalStarter
    private let turns = Turns()
    private var application: AdaptedApplication?
    private let pending = Pendings<EditorState>()
    // What is on its way may be handed over only after minutes: the document comes first.
    private lazy var idleEnd = IdleEnd(of: service, after: Self.idle) { [weak self] in
        self?.application?.isContinuing == true || self?.terminals.isWaited == true
    }

    /// How long it stays when there is nothing to do.
    private static let idle = Duration.seconds(20)
    /// How long the plugin of an editor that was started may take to ask what for.
    private static let patience = Duration.seconds(15)
    /// The same if the editor shows all there is to show without its plugin.
    private static let shortPatience = Duration.seconds(2)
    /// How long an editor waits for another of its kind. With what it may take itself that is less than the broker waits for
    /// it, so that nothing opens long after the user was told that it does not.
    private static let turnPatience = Duration.seconds(10)
    /// How long a program may take to say whether it can have a window.
    private static let questionPatience = Duration.seconds(3)

    /// What there is on the bus of `service`.
    init(_ service: AdapterService) {
        self.service = service
        starter = ProgramStarter(service.bus, looks, adapterLog)
        terminals = TerminalStarter(starter)
        service.bus.connection.objects.export(
            HandoffNames.editorAdapterPath, [EditorAdapterBinding(PendingObject(self))])
    }

    /// Registers, so that it is handed what is continued.
    func begin() throws {
        let application = AdaptedApplication(
            try ApplicationID(HandoffNames.editorAdapter.text), types: [try EditingText.type()],
            team: try Team(EditingText.team), receives: true)
        application.onContinue = { [weak self] in try await self?.continue($0) ?? false }
        application.onContinuingChange = { [weak self] in self?.idleEnd.check() }
        terminals.onWaitedChange = { [weak self] in self?.idleEnd.check() }
        application.onSteppedBack = { [service] in service.finish("it is not needed.") }
        self.application = application
        idleEnd.check()
    }

    private func `continue`(_ activity: HandedActivity) async throws -> Bool {
        let state = try await EditingText.state(of: activity, looks)
        let origin = activity.userInfo["application"]?.string ?? ""
        guard let choice = try await choose(origin, state) else {
            guard state.document.path != nil else {
                throw HandoffFailure(
                    .applicationFailed,
                    tr(
                        "No editor here can open a text without a file. Save it on the other device, or "
                            + "install Visual Studio Code or a related editor here, with the extension for "
                            + "Handoff."))
            }
            guard state.text == nil else {
                throw HandoffFailure(
                    .applicationFailed,
                    tr(
                        "No editor here can open text that was not saved yet. Save it on the other device, "
                            + "or install Vim, Neovim, Emacs or gedit here."))
            }
            // The user's default application for the file opens it.
            return false
        }
        // Whose plugin asks first gets what the editor was started for, so the next of its kind is started after that.
        try await turns.run(choice.editor.id, within: Self.turnPatience) {
            try await start(choice, state, activity.activationToken)
        }
        return true
    }

    // MARK: Choosing

    /// An editor, and one of its programs, at an absolute path.
    private struct Choice: Sendable {
        let editor: KnownEditor
        let program: KnownEditor.Program
        let path: String
    }

    private func choose(_ origin: String, _ state: EditorState) async throws -> Choice? {
        let hasText = state.text != nil
        let found = try await looks.find(.starting) {
            var candidates = KnownEditor.candidates(
                origin: origin, preferred: Self.preferred(), hasText: hasText)
            if state.document.path == nil {
                candidates = candidates.filter { $0.takesUntitled && $0.hasPlugin }
            }
            // One whose plugin is off opens the file, but has nobody to take the text.
            if hasText { candidates = candidates.filter(\.hasPlugin) + candidates.filter { !$0.hasPlugin } }
            return candidates.compactMap {
                editor in
                editor.programs.firstResult { program in
                    ProgramFiles.find(program.name).map { Choice(editor: editor, program: program, path: $0) }
                }
            }
        }
        return found.first { choice in
            (try? ApplicationID(choice.editor.id)).map { !service.isExcluded($0) } ?? false
        }
    }

    /// The user's own choice for text, by the name of its desktop entry without `.desktop`. This may block.
    private nonisolated static func preferred() -> String? {
        guard let found = g_app_info_get_default_for_type("text/plain", 0) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(found)) }
        guard let id = g_app_info_get_id(found) else { return nil }
        let text = String(cString: id)
        return text.hasSuffix(".desktop") ? String(text.dropLast(".desktop".count)) : text
    }

    // MARK: Starting

    private func start(_ choice: Choice, _ state: EditorState, _ token: String) async throws {
        let id = try ApplicationID(choice.editor.id)
        try await pending.keep(state, for: choice.editor.id) { taken in
            let inTerminal = await needsTerminal(choice, id)
            let command = [choice.path] + choice.editor.arguments(state, inTerminal: inTerminal)
            if inTerminal {
                let title = PeerText.title("\(state.document.name) – \(choice.editor.name)")
                try await terminals.run(
                    EditorAdapter.name, "--run", [title] + command, as: id, activationToken: token)
                try await wait(taken, for: state, choice.editor)
            } else {
                let launch = Launch(id, program: choice.path, arguments: command, activationToken: token)
                try await starter.running(launch) { program in
                    try await program.check(within: .milliseconds(300))
                    try await wait(taken, for: state, choice.editor)
                }
            }
        }
    }

    private func needsTerminal(_ choice: Choice, _ id: ApplicationID) async -> Bool {
        switch choice.program.surface {
        case .window: return false
        case .terminal: return true
        case .either:
            let variables = SessionEnvironment.variables
            guard ["DISPLAY", "WAYLAND_DISPLAY"].contains(where: { variables[$0]?.isEmpty == false }) else {
                return true
            }
            let question = Launch(
                id, program: choice.path, arguments: [choice.path] + KnownEditor.windowQuestion,
                activationToken: "")
            var hasWindow = false
            // In a terminal each of them can run.
            try? await starter.running(question) { program in
                hasWindow = await program.end(within: Self.questionPatience)?.isSuccess == true
            }
            return !hasWindow
        }
    }

    private func wait(
        _ taken: @MainLoop (Duration) async -> Bool, for state: EditorState, _ editor: KnownEditor
    ) async throws {
        let hasText = state.text != nil
        guard !(await taken(hasText ? Self.patience : Self.shortPatience)), hasText else { return }
        throw HandoffFailure(
            .applicationFailed,
            tr(
                "The file is open in {editor}, but without the changes that were not saved, because the "
                    + "plugin for Handoff is not switched on in {editor}. Switch it on, or save the text on the "
                    + "other device.",
                ["editor": editor.name]))
    }

    fileprivate func take(_ editor: String) -> EditorState? { pending.take(editor) }
}

/// What the plugins of editors call.
@MainLoop
private final class PendingObject: EditorAdapterServer {
    private unowned let catcher: EditorCatcher

    init(_ catcher: EditorCatcher) { self.catcher = catcher }

    func takePending(editor: String, _ call: MethodCall) throws -> [String: Value] {
        let id = try ApplicationID(editor)
        return catcher.take(id.description).map(EditingText.pending) ?? [:]
    }
}

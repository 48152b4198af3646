// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// A running office: its applications show documents, and it opens those of other devices.
@MainLoop
final class OfficeSession: PluginSession {
    var onSteppedBack: (@MainLoop () -> Void)?

    private let pipe: PluginPipe<OfficeMessage>
    private let receiver: AdaptedApplication
    private var applications: [OfficeApplication: AdaptedApplication] = [:]
    private let looks = FileLooks()
    private var copies = OfficeCopies()
    private var preferences: [String: Value] = [:]
    /// What the extension said last of where the user is; nil for nowhere.
    private var front: OfficeState?
    private lazy var latest = Latest<OfficeMessage>(every: Self.interval) { [weak self] in self?.take($0) }

    /// At least this lies between two things that are told to the broker.
    private static let interval = Duration.milliseconds(100)
    /// How long the office may take to say where it is, and to write a copy: less than the broker waits for that.
    private static let savePatience = Duration.milliseconds(1700)
    /// How long it may take to open something.
    private static let openPatience = Duration.seconds(20)

    /// The office whose extension is at the other end of `pipe`.
    init(_ pipe: PluginPipe<OfficeMessage>) throws(HandoffFailure) {
        self.pipe = pipe
        receiver = AdaptedApplication(
            try ApplicationID(HandoffNames.officeAdapter.text), types: [try OfficeDocument.type()],
            team: try OfficeDocument.team(), receives: true)
        receiver.onContinue = { [weak self] in try await self?.continue($0) ?? false }
        pipe.onMessage = { [weak self] in self?.latest.come($0) }
        MainLoop.start { [looks] in await looks.look(.openedDocument) { OfficeCopies.sweep() } }
    }

    func choose(_ preferences: [String: Value]) {
        self.preferences = preferences
        for (application, adapted) in applications where isExcluded(application) {
            adapted.end()
            applications[application] = nil
        }
        if let front, applications[front.application] == nil { pipe.askForFront() }
    }

    func end() {
        receiver.end()
        for application in applications.values { application.end() }
        OfficeCopies.remove(copies.forget())
    }

    private func isExcluded(_ application: OfficeApplication) -> Bool {
        preferences.texts("ExcludedApplications").contains(application.id)
    }

    // MARK: What the user is at

    private func take(_ message: OfficeMessage) {
        switch message {
        case .front(let state):
            for (application, adapted) in applications where application != state.application {
                adapted.leave()
            }
            front = state
            MainLoop.start { [weak self] in await self?.show(state) }
        case .left:
            for application in applications.values { application.leave() }
            front = nil
        case .closed:
            if let front { applications[front.application]?.showNothing() }
            for application in applications.values { application.leave() }
            front = nil
        case .state, .opened: break
        }
    }

    private func show(_ state: OfficeState) async {
        guard !isExcluded(state.application) else { return }
        let path = state.document.path
        let found = await looks.look(.namedDocument, of: path) {
            path.flatMap { path in OfficeErrand.format(of: path).flatMap { _ in UserFile.url(path) } }
        }
        // By now the user may be somewhere else.
        guard front == state, let adapted = application(state.application) else { return }
        guard let url = path == nil ? copies.placeholder(for: state) : found ?? nil else {
            return adapted.resign()
        }
        if let shown = adapted.shown, shown.identity == state.document.identity {
            // Where in the document is asked at each continuation.
            return adapted.show(shown)
        }
        guard let type = try? OfficeDocument.type() else { return }
        adapted.show(
            ShownActivity(
                state.document.identity, type: type,
                properties: [
                    "Title": .string(PeerText.title(state.document.name)), "DocumentURL": .string(url),
                    "UserInfo": OfficeDocument.userInfo(state, isCopy: false),
                ]))
    }

    private func application(_ application: OfficeApplication) -> AdaptedApplication? {
        if let known = applications[application] { return known }
        guard !isExcluded(application), let id = try? ApplicationID(application.id),
            let type = try? OfficeDocument.type(), let team = try? OfficeDocument.team()
        else { return nil }
        let new = AdaptedApplication(id, types: [type], team: team, receives: false)
        new.onSave = { [weak self] in try await self?.save($0, in: application) ?? [:] }
        new.onContinued = { [weak self] _, _ in self?.removeCopies() }
        new.onSteppedBack = { [weak self] in self?.onSteppedBack?() }
        applications[application] = new
        return new
    }

    private func save(
        _ shown: ShownActivity, in application: OfficeApplication
    ) async throws -> [String: Value] {
        let (folder, old) = copies.next()
        try await looks.find(.openedDocument) { Result { try OfficeCopies.make(folder, removing: old) } }
            .get()
        guard
            case .state(_, let state?)? = await pipe.ask(
                OfficeQuestion.save(folder: folder), within: Self.savePatience)
        else {
            throw HandoffFailure(
                .applicationTimedOut,
                tr(
                    "{application} does not say where it is. Look there, and try again.",
                    ["application": application.name]))
        }
        guard state.application == application, state.document.identity == shown.identity else { return [:] }
        let (path, copy) = (state.document.path, state.copy)
        let url = try await looks.find(.namedDocument, of: path) {
            copy.flatMap { OfficeCopies.url($0, in: folder) }.map { (url: $0, isCopy: true) }
                ?? path.flatMap(UserFile.url).map { (url: $0, isCopy: false) }
        }
        guard let url else { return [:] }
        return [
            "DocumentURL": .string(url.url), "UserInfo": OfficeDocument.userInfo(state, isCopy: url.isCopy),
        ]
    }

    private func removeCopies() {
        let folders = copies.forget()
        MainLoop.start { [looks] in await looks.look(.openedDocument) { OfficeCopies.remove(folders) } }
    }

    // MARK: Continuing

    private func `continue`(_ activity: HandedActivity) async throws -> Bool {
        let errand = try await OfficeErrand.of(
            activity, received: AdapterService.documentsFolder(preferences), looks)
        try await open(errand)
        await looks.look(.openedDocument) { errand.removeCopy() }
        return true
    }

    func openPending(on bus: Bus) async throws {
        guard let owner = try? await bus.identifiedOwner(of: HandoffNames.officeAdapter),
            owner.sandbox == nil, let name = owner.name
        else { return }
        let adapter = EditorAdapterProxy(RemoteObject(bus.connection, name, HandoffNames.editorAdapterPath))
        guard let pending = try? await adapter.takePending(editor: HandoffNames.officeAdapter.text) else {
            return
        }
        let errand = try await looks.find(.openedDocument) { OfficeErrand(pending: pending) }
        guard let errand else { return }
        try await open(errand)
        await looks.look(.openedDocument) { errand.removeCopy() }
    }

    private func open(_ errand: OfficeErrand) async throws {
        guard !isExcluded(errand.application) else { throw OfficeDocument.excluded(errand.application) }
        switch await pipe.ask(OfficeQuestion.open(errand), within: Self.openPatience) {
        case .opened(_, true)?: return
        case nil:
            throw HandoffFailure(
                .applicationTimedOut,
                tr(
                    "{application} does not answer; it may be waiting for you. Look there, and try again.",
                    ["application": errand.application.name]))
        default:
            throw HandoffFailure(
                .applicationFailed,
                tr(
                    "{application} cannot open {file}. Open it there yourself to see why.",
                    ["application": errand.application.name, "file": errand.file.shown]))
        }
    }
}

/// Activities of the type `org.example.Handoff.EditingDocument`.
///
/// `DocumentURL` is the document, or a copy of it if it was not saved. In `UserInfo` are `application` (s), the application by
/// its id; the place, `page` (x), `sheet` and `cell` (s), or `slide` (x); and `unsaved` (s), what the document is called whose
/// copy goes along.
enum OfficeDocument {
    /// The type.
    static func type() throws(HandoffFailure) -> ActivityType {
        try ActivityType("org.example.Handoff.EditingDocument")
    }

    /// Whose activities the office continues.
    static func team() throws(HandoffFailure) -> Team { try Team(HandoffNames.officeAdapter.text) }

    /// What is said of `state` beside where the document is.
    static func userInfo(_ state: OfficeState, isCopy: Bool) -> Value {
        var entries = state.place?.entries ?? [:]
        entries[OfficeKey.application] = .string(state.application.id)
        if isCopy { entries[OfficeKey.unsaved] = .string(PeerText.title(state.document.name)) }
        return .properties(entries)
    }

    /// The user keeps Handoff out of `application`.
    static func excluded(_ application: OfficeApplication) -> HandoffFailure {
        HandoffFailure(
            .applicationFailed,
            tr(
                "You keep Handoff out of {application} on this device. Let it in, and try again.",
                ["application": application.name]))
    }
}

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

    private let pipe: PluginPipe<OfficeState>
    private let receiver: AdaptedApplication
    private var applications: [OfficeApplication: AdaptedApplication] = [:]
    private let looks = FileLooks()
    private var copies = OfficeCopies()
    private var removal: LoopSource?
    /// Of what a copy was made last, when, and what was told then.
    private var saved: (document: ShownDocument, time: Int64, properties: [String: Value])?
    /// What each application has shown last.
    private var documents: [OfficeApplication: ShownDocument] = [:]
    private var preferences: [String: Value] = [:]
    /// What the extension said last of where the user is; nil for nowhere.
    private var front: OfficeState?
    /// In which application the user was last.
    private var last: OfficeApplication?
    private lazy var latest = Latest<PluginMessage<OfficeState>>(every: Self.interval) { [weak self] in
        self?.take($0)
    }

    /// At least this lies between two things that are told to the broker.
    private static let interval = Duration.milliseconds(100)
    /// How long the office may take to say where it is, and to write a copy: less than the broker waits for that.
    private static let savePatience = Duration.milliseconds(1700)
    /// How long a copy counts as what is shown, in microseconds.
    private static let pace: Int64 = 2_000_000
    /// How long copies are kept after the last one was made: longer than it takes to bring one over.
    private static let keeping = Duration.seconds(600)
    /// How long it may take to open something.
    private static let openPatience = Duration.seconds(20)

    /// The office whose extension is at the other end of `pipe`.
    init(_ pipe: PluginPipe<OfficeState>) throws(HandoffFailure) {
        self.pipe = pipe
        receiver = AdaptedApplication(
            try ApplicationID(HandoffNames.officeAdapter.text), types: [try OfficeDocument.type()],
            team: try OfficeDocument.team(), receives: true)
        receiver.onContinue = { [weak self] in try await self?.continue($0) ?? false }
        pipe.onMessage = { [weak self] in self?.latest.come($0) }
        MainLoop.start { [looks] in await looks.look(.openedDocument) { OfficeCopies.sweep() } }
    }

    func choose(_ preferences: [String: Value]) {
        let excluded = OfficeApplication.allCases.filter(isExcluded)
        self.preferences = preferences
        for (application, adapted) in applications where isExcluded(application) {
            adapted.end()
            applications[application] = nil
        }
        // What was said of one while it was left alone is forgotten.
        if !excluded.allSatisfy(isExcluded) { pipe.askForFront() }
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

    private func take(_ message: PluginMessage<OfficeState>) {
        switch message {
        case .front(let state):
            for (application, adapted) in applications where application != state.application {
                adapted.leave()
            }
            (front, last) = (state, state.application)
            MainLoop.start { [weak self] in await self?.show(state) }
        case .left:
            for application in applications.values { application.leave() }
            front = nil
        case .closed:
            // It may have been left before.
            if let last { applications[last]?.showNothing() }
            for application in applications.values { application.leave() }
            front = nil
        case .state, .opened: break
        }
    }

    private func show(_ state: OfficeState) async {
        guard !isExcluded(state.application) else { return }
        let path = state.document.path
        let found = await looks.look(.namedDocument, of: path) {
            path.flatMap { path in OfficeTask.format(of: path).flatMap { _ in UserFile.url(path) } }
        }
        // By now the user may be somewhere else.
        guard front == state, let adapted = application(state.application) else { return }
        guard let url = path == nil ? copies.placeholder(for: state) : found ?? nil else {
            return adapted.resign()
        }
        documents[state.application] = state.document
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
        new.onSteppedBack = { [weak self] in self?.onSteppedBack?() }
        applications[application] = new
        return new
    }

    /// Where the user is in `shown` now, and what was not saved of it. If the office does not say so, the document goes on as it
    /// is on the disk, where it was when it was offered.
    private func save(
        _ shown: ShownActivity, in application: OfficeApplication
    ) async throws -> [String: Value] {
        guard let document = documents[application], document.identity == shown.identity else {
            return shown.properties
        }
        // Writing a copy keeps the user of the office waiting, and a device may ask as often as it likes.
        if let saved, saved.document == document, MainLoop.now - saved.time < Self.pace {
            return saved.properties
        }
        let (folder, old) = copies.next()
        try await looks.find(.openedDocument) { Result { try OfficeCopies.make(folder, removing: old) } }
            .get()
        removal = .timer(after: Self.keeping) { [weak self] in self?.removeCopies() }
        let answer = await pipe.ask(
            OfficeQuestion.save(document, folder: folder), within: Self.savePatience)
        guard case .state(_, let state?)? = answer, state.application == application,
            state.document == document
        else { return shown.properties }
        let (path, copy) = (document.path, state.copy)
        let url = try await looks.find(.namedDocument, of: path) {
            copy.flatMap { OfficeCopies.url($0, in: folder) }.map { (url: $0, isCopy: true) }
                ?? path.flatMap(UserFile.url).map { (url: $0, isCopy: false) }
        }
        guard let url else { return shown.properties }
        let properties: [String: Value] = [
            "DocumentURL": .string(url.url), "UserInfo": OfficeDocument.userInfo(state, isCopy: url.isCopy),
        ]
        if url.isCopy { saved = (document, MainLoop.now, properties) }
        return properties
    }

    private func removeCopies() {
        (removal, saved) = (nil, nil)
        let folders = copies.forget()
        MainLoop.start { [looks] in await looks.look(.openedDocument) { OfficeCopies.remove(folders) } }
    }

    // MARK: Continuing

    private func `continue`(_ activity: HandedActivity) async throws -> Bool {
        let task = try await OfficeTask.of(
            activity, received: AdapterService.documentsFolder(preferences), looks)
        try await open(task)
        return true
    }

    func openPending(on bus: Bus) async throws {
        let adapter = HandoffNames.officeAdapter
        var failure: (any Error)?
        // It may have been started for several at once, of which one may be none that can be opened.
        while true {
            let pending = await bus.takePending(adapter.text, of: adapter)
            guard !pending.isEmpty else { break }
            do {
                let task = try await looks.find(.openedDocument) { OfficeTask(pending: pending) }
                if let task { try await open(task) }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private func open(_ task: OfficeTask) async throws {
        guard !isExcluded(task.application) else { throw OfficeDocument.excluded(task.application) }
        try await pipe.open(
            OfficeQuestion.open(task), in: task.application.name, within: Self.openPatience,
            refusal: tr(
                "{application} cannot open {file}. Open it there yourself to see why.",
                ["application": task.application.name, "file": task.file.shown]))
        await looks.look(.openedDocument) { task.removeCopy() }
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
    static func team() throws(HandoffFailure) -> Team { try Team(HandoffNames.team("Office")) }

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
                "You have excluded {application} from Handoff on this device. Let it in, and try again.",
                ["application": application.name]))
    }
}

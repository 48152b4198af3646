// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// What continues documents where no office runs that can be talked to: it starts one.
@MainLoop
final class OfficeCatcher {
    private let service: AdapterService
    private let looks = FileLooks()
    private let starter: ProgramStarter
    private let turns = Turns()
    private var application: AdaptedApplication?
    private let pending = Pendings<OfficeErrand>()
    private lazy var idleEnd = IdleEnd(of: service, after: Self.idle) { [weak self] in
        self?.application?.isContinuing == true
    }

    /// How long it stays when there is nothing to do.
    private static let idle = Duration.seconds(20)
    /// How long the office may take to start, and its extension to ask what for.
    private static let patience = Duration.seconds(18)
    /// How long one waits for another. With the other it is less than the broker waits, so that nothing opens long after the
    /// user was told that it does not.
    private static let turnPatience = Duration.seconds(10)

    /// What there is on the bus of `service`.
    init(_ service: AdapterService) {
        self.service = service
        starter = ProgramStarter(service.bus, looks, adapterLog)
        service.bus.connection.objects.export(
            HandoffNames.editorAdapterPath, [EditorAdapterBinding(PendingErrand(pending))])
    }

    /// Registers, so that it is handed what is continued.
    func begin() throws {
        let application = AdaptedApplication(
            try ApplicationID(HandoffNames.officeAdapter.text), types: [try OfficeDocument.type()],
            team: try OfficeDocument.team(), receives: true)
        application.onContinue = { [weak self] in try await self?.continue($0) ?? false }
        application.onContinuingChange = { [weak self] in self?.idleEnd.check() }
        application.onSteppedBack = { [service] in service.finish("it is not needed.") }
        self.application = application
        idleEnd.check()
    }

    private func `continue`(_ activity: HandedActivity) async throws -> Bool {
        let errand = try await OfficeErrand.of(activity, received: service.documentsFolder, looks)
        let id = try ApplicationID(errand.application.id)
        guard !service.isExcluded(id) else { throw OfficeDocument.excluded(errand.application) }
        let program = try await looks.find(.starting) {
            OfficeApplication.programs.firstResult { ProgramFiles.find($0) }
        }
        // The user's default application for the document opens it.
        guard let program else { return false }
        // Whoever asks first gets what the office was started for, so the next is started after that.
        try await turns.run(id.description, within: Self.turnPatience) {
            try await start(
                errand,
                Launch(
                    id, program: program, arguments: [program, errand.application.option],
                    activationToken: activity.activationToken))
        }
        return true
    }

    private func start(_ errand: OfficeErrand, _ launch: Launch) async throws {
        try await pending.keep(errand, for: HandoffNames.officeAdapter.text) { taken in
            try await starter.running(launch) { program in
                if let end = await program.end(within: .milliseconds(300)), !end.isSuccess {
                    throw await program.failure(end, "")
                }
                guard !(await taken(Self.patience)) else { return }
                throw HandoffFailure(
                    .applicationFailed,
                    tr(
                        "{application} has started, and has not opened {file}: its extension for Handoff is not there."
                            + " Install it with python3-uno, or open the document yourself.",
                        ["application": errand.application.name, "file": errand.file.shown]))
            }
        }
    }
}

/// What the part of the extension that is in Handoff calls.
@MainLoop
private final class PendingErrand: EditorAdapterServer {
    private let pending: Pendings<OfficeErrand>

    init(_ pending: Pendings<OfficeErrand>) { self.pending = pending }

    func takePending(editor: String, _ call: MethodCall) throws -> [String: Value] {
        pending.take(editor)?.pending ?? [:]
    }
}

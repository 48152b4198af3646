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
    private var application: AdaptedApplication?
    private let pending = Pendings<OfficeTask>()
    private lazy var idleEnd = IdleEnd(of: service, after: Self.idle) { [weak self] in
        self?.application?.isContinuing == true
    }

    /// How long it stays when there is nothing to do.
    private static let idle = Duration.seconds(20)
    /// How long the office may take to start, and its extension to ask what for.
    private static let patience = Duration.seconds(18)
    /// What there is on the bus of `service`.
    init(_ service: AdapterService) {
        self.service = service
        starter = ProgramStarter(service.bus, looks, adapterLog)
        service.bus.connection.objects.export(
            HandoffNames.editorAdapterPath, [EditorAdapterBinding(PendingTask(pending))])
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
        let task = try await OfficeTask.of(activity, received: service.documentsFolder, looks)
        let id = try ApplicationID(task.application.id)
        guard !service.isExcluded(id) else { throw OfficeDocument.excluded(task.application) }
        let program = try await looks.find(.starting) {
            OfficeApplication.programs.firstResult { ProgramFiles.find($0) }
        }
        // The user's default application for the document opens it.
        guard let program else { return false }
        return try await start(
            task,
            Launch(
                id, program: program, arguments: [program, task.application.option],
                activationToken: activity.activationToken))
    }

    /// Starts the office for `task`.
    /// - Returns: false if the user's default application is to open it, since the extension is not there.
    private func start(_ task: OfficeTask, _ launch: Launch) async throws -> Bool {
        var isTaken = false
        try await pending.keep(task, for: HandoffNames.officeAdapter.text) { taken in
            try await starter.running(launch) { program in
                try await program.check(within: .milliseconds(300))
                isTaken = await taken(Self.patience)
            }
        }
        guard !isTaken, case .unsaved = task.mode else { return isTaken }
        throw HandoffFailure(
            .applicationFailed,
            tr(
                "{application} has started, but has not opened {file}: its extension for Handoff is missing."
                    + " Install it with python3-uno, or open the document yourself.",
                ["application": task.application.name, "file": task.file.shown]))
    }
}

/// What the part of the extension that is in Handoff calls.
@MainLoop
private final class PendingTask: EditorAdapterServer {
    private let pending: Pendings<OfficeTask>

    init(_ pending: Pendings<OfficeTask>) { self.pending = pending }

    func takePending(editor: String, _ call: MethodCall) throws -> [String: Value] {
        pending.take(editor)?.pending ?? [:]
    }
}

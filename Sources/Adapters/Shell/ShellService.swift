// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// The adapter for shells: it holds the folder that the user has named, and opens those of other devices.
@MainLoop
final class ShellService {
    private let service: AdapterService
    private let terminals: TerminalStarter
    private let looks = FileLooks()
    private var application: AdaptedApplication?
    /// The shell whose folder is current; others that were there before do not count any more.
    private var shell: ProcessWatch?
    private lazy var idleEnd = IdleEnd(of: service, after: Self.idle) { [weak self] in self?.isBusy ?? false }

    /// How long it stays when there is nothing to do.
    private static let idle = Duration.seconds(20)

    /// What there is on the bus of `service`.
    init(_ service: AdapterService) {
        self.service = service
        terminals = TerminalStarter(ProgramStarter(service.bus, looks, adapterLog))
        service.bus.connection.objects.export(
            HandoffNames.shellAdapterPath, [ShellAdapterBinding(ShellObject(self))])
    }

    private static func type() throws(HandoffFailure) -> ActivityType {
        try ActivityType("org.example.Handoff.UsingShell")
    }

    /// A session of tmux: `UserInfo` has its name, `session` (s), and nothing else.
    private static func sessionType() throws(HandoffFailure) -> ActivityType {
        try ActivityType("org.example.Handoff.UsingSession")
    }

    /// Registers.
    func begin() throws {
        let application = AdaptedApplication(
            try ApplicationID(HandoffNames.shellAdapter.text),
            types: [try Self.type(), try Self.sessionType()],
            team: try Team(HandoffNames.team("Shell")), receives: true)
        application.onContinue = { [weak self] in try await self?.continue($0) ?? false }
        application.onContinuingChange = { [weak self] in self?.idleEnd.check() }
        terminals.onWaitedChange = { [weak self] in self?.idleEnd.check() }
        application.onSteppedBack = { [service] in service.finish("it is not needed.") }
        self.application = application
        idleEnd.check()
    }

    private var isBusy: Bool { application?.isContinuing == true || terminals.isWaited || shell != nil }

    // MARK: What is current

    /// Makes `folder` what the user is at, as long as `process` lives.
    func here(_ folder: String, _ process: UInt32, _ history: [String]) async throws {
        guard OwnFolder.isUsable(folder), let value = OwnFolder.value(folder) else {
            throw refused("is not an absolute path without control characters, empty parts, “.” and “..”")
        }
        guard !OwnFolder.isPrivate(folder) else { throw refused("is private") }
        guard history.count <= ShellHistory.maximumCount else {
            throw HandoffFailure(
                .invalidArguments,
                "The history has \(history.count) lines. Leave all out but the last \(ShellHistory.maximumCount)."
            )
        }
        switch try await looks.find(.namedDocument, of: folder, { OwnFolder.look(at: folder) }) {
        case .folder: break
        case .none: throw refused("is not a folder of this user")
        case .private: throw refused("is private")
        case .open: throw refused("can be written by everybody")
        }
        shell = try watch(process)
        show(folder, value, ShellHistory.shown(history))
        idleEnd.check()
    }

    /// What tells of the end of `process`: the watch that is there, if it is of the same one.
    private func watch(_ process: UInt32) throws(HandoffFailure) -> ProcessWatch {
        if let shell, shell.process == process, !shell.hasEnded { return shell }
        let missing = HandoffFailure(
            .invalidArguments, "There is no process \(process). Name the one of a shell that runs.")
        guard process > 1 else { throw missing }
        do throws(ProcessWatch.Failure) {
            return try ProcessWatch(process) { [weak self] in self?.end() }
        } catch .noDescriptor(let reason) {
            throw HandoffFailure(
                .limitsExceeded,
                "Nothing would report the end of process \(process) (\(reason)). End programs that you do not need,"
                    + " and try again.")
        } catch {
            throw missing
        }
    }

    private func refused(_ what: String) -> HandoffFailure {
        HandoffFailure(.invalidArguments, "The folder \(what), and is not offered. Name another one.")
    }

    private func show(_ folder: String, _ value: Value, _ history: [String]) {
        guard let type = try? Self.type() else { return }
        var userInfo = ["folder": value]
        if !history.isEmpty { userInfo["history"] = .strings(history) }
        let name = folder.split(separator: "/").last.map(String.init) ?? "/"
        application?.showNothing()
        application?.show(
            ShownActivity(
                folder, type: type,
                properties: ["Title": .string(PeerText.title(name)), "UserInfo": .properties(userInfo)]))
    }

    /// Makes the session `name` of tmux what the user is at, as long as `process` lives.
    func hereSession(_ name: String, _ process: UInt32) throws {
        guard let session = SessionName(name) else {
            throw HandoffFailure(
                .invalidArguments,
                "The session “\(PeerText.message(name))” cannot be named on another device. Give it a name of at most"
                    + " \(SessionName.maximum) letters, digits, _ and - (tmux rename-session).")
        }
        shell = try watch(process)
        application?.showNothing()
        application?.show(
            ShownActivity(
                "session \(session.text)", type: try Self.sessionType(),
                properties: [
                    "Title": .string(session.text),
                    "UserInfo": .properties(["session": .string(session.text)]),
                ]))
        idleEnd.check()
    }

    /// Nothing is current any more.
    func end() {
        shell = nil
        application?.showNothing()
        idleEnd.check()
    }

    // MARK: Continuing

    private func `continue`(_ activity: HandedActivity) async throws -> Bool {
        if activity.properties["ActivityType"]?.string == (try Self.sessionType()).description {
            return try await attach(activity)
        }
        let missing = HandoffFailure(
            .applicationFailed,
            tr(
                "The folder of that shell is not available on this device. Put it into a shared folder, and "
                    + "try again."
            ))
        guard let folder = OwnFolder.path(activity.userInfo["folder"]), !OwnFolder.isPrivate(folder)
        else {
            throw missing
        }
        guard try await looks.find(.openedDocument, of: folder, { OwnFolder.look(at: folder) }) == .folder
        else {
            throw missing
        }
        let history = ShellHistory.shown(activity.userInfo["history"]?.strings ?? [])
        let words = [PeerText.name(activity.device.name), folder] + history
        try await terminals.run(
            ShellAdapter.name, "--greet", words, as: try ApplicationID(HandoffNames.shellAdapter.text),
            activationToken: activity.activationToken)
        return true
    }

    /// Opens a terminal that attaches to a session: which one the device has said, and where its own user.
    private func attach(_ activity: HandedActivity) async throws -> Bool {
        let device = activity.device
        guard let session = activity.userInfo["session"]?.string.flatMap(SessionName.init) else {
            throw HandoffFailure(
                .applicationFailed,
                tr(
                    "The name of the session is not allowed here. Rename the session on the other device "
                        + "(tmux rename-session)."
                ))
        }
        guard let host = service.sessionHost(of: device.id) else {
            throw HandoffFailure(
                .applicationFailed,
                tr(
                    "You have not said how this device reaches “{device}” by ssh. Say so with “handoff ssh DEVICE HOST”, and"
                        + " try again.", ["device": PeerText.name(device.name)]))
        }
        try await terminals.run(
            ShellAdapter.name, "--attach", [PeerText.name(device.name), device.id, host, session.text],
            as: try ApplicationID(HandoffNames.shellAdapter.text), activationToken: activity.activationToken)
        return true
    }
}

/// What `handoff here` calls.
@MainLoop
private final class ShellObject: ShellAdapterServer {
    private unowned let service: ShellService

    init(_ service: ShellService) { self.service = service }

    func here(folder: String, process: UInt32, history: [String], _ call: MethodCall) async throws {
        try await service.here(folder, process, history)
    }

    func hereSession(session: String, process: UInt32, _ call: MethodCall) throws {
        try service.hereSession(session, process)
    }

    func end(_ call: MethodCall) throws { service.end() }
}

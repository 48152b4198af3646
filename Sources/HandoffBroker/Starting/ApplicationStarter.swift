// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffStarting
internal import MainLoop

/// Starts applications, and has them open pages and documents.
@MainLoop
final class ApplicationStarter {
    let bus: Bus
    private let programs: ProgramStarter
    /// The starts that are under way: whoever wants the same application meanwhile gets the same one.
    private var starts: [ApplicationID: Task<Void, any Error>] = [:]
    /// The programs that are expected to register.
    private var expected: [ApplicationID: StartedProgram] = [:]

    private let looks: FileLooks
    /// Finds desktop entries.
    private let find: @Sendable (ApplicationID) throws -> LaunchEntry

    /// Starts what has a desktop entry that `find` finds, which may block.
    init(
        _ bus: Bus, _ looks: FileLooks = FileLooks(),
        find: @escaping @Sendable (ApplicationID) throws -> LaunchEntry = { try LaunchEntry.find($0) }
    ) {
        self.bus = bus
        self.looks = looks
        self.find = find
        programs = ProgramStarter(bus, looks, brokerLog)
    }

    // MARK: Applications that register

    /// Starts `application`, which is then expected to register. It ends with an error as soon as it is clear that the
    /// application will not; otherwise it may return before or after the application has registered.
    /// - Parameter activationToken: lets the application raise its window; empty for none.
    func start(_ application: ApplicationID, activationToken: String) async throws {
        if let start = starts[application] { return try await start.value }
        let start = MainLoop.start { [self] in try await begin(application, activationToken) }
        starts[application] = start
        defer { starts[application] = nil }
        try await start.value
    }

    /// `application` has registered: whether its program ends matters no longer.
    func registered(_ application: ApplicationID) { expected[application]?.release() }

    private func begin(_ application: ApplicationID, _ activationToken: String) async throws {
        let reason: String
        do {
            let entry = try await looks.find(.starting, of: application.description) { [find] in
                try find(application)
            }
            switch entry.way {
            case .bus(let name):
                // The bus does not decide how long this may take. Never Activate, which would show an empty window.
                try await bus.startService(name, timeout: Deadline.registration * 2)
                if let owner = try await bus.identifiedOwner(of: name) { try check(owner, application) }
                return
            case .program(let line):
                let launch = try await looks.find(.starting, of: application.description) {
                    try Launch(application, line, of: entry, opening: nil, activationToken: activationToken)
                }
                return try await expect(launch)
            }
        } catch let failure as HandoffFailure {
            if failure.isCrash { throw failure }
            reason = failure.message
        } catch {
            reason = PeerText.message(DBusError.converting(error).message)
        }
        throw HandoffFailure(
            .applicationFailed,
            "\(application) could not be started. Start it by hand, then try again. (\(reason))")
    }

    /// How long a start is under way: less than the continuation waits, so that whoever tries again after that gets a
    /// new one.
    private static let expecting = Deadline.registration - .seconds(1)

    /// Runs a program until it has registered, or ends without having done so. A program that ends with status 0 may have
    /// handed over to another.
    private func expect(_ launch: Launch) async throws {
        try await programs.running(launch) { program in
            expected[launch.application] = program
            defer { expected[launch.application] = nil }
            try await program.check(within: Self.expecting, " before it had registered")
        }
    }

    // MARK: Pages and documents

    /// How long a program that opens something runs before that counts as success.
    private static let opening = Duration.seconds(1)

    /// Has `application` open `url`, a web page or a file of this machine, whether or not it is running.
    /// - Throws: why it could not, or that it ended at once.
    func open(_ url: String, with application: ApplicationID, activationToken: String) async throws {
        let opened = try OpenedURL.check(url)
        do {
            let entry = try await looks.find(.starting, of: application.description) { [find] in
                try find(application)
            }
            switch entry.way {
            case .bus(let name): try await open(url, with: application, named: name, activationToken)
            case .program(let line):
                let launch = try await looks.find(.starting, of: application.description) {
                    try Launch(
                        application, line, of: entry, opening: opened, activationToken: activationToken)
                }
                try await programs.running(launch) { program in
                    try await program.check(within: Self.opening, " instead of opening it")
                }
            }
        } catch {
            if let failure = error as? HandoffFailure, failure.isCrash { throw failure }
            let reason =
                (error as? HandoffFailure)?.message ?? PeerText.message(DBusError.converting(error).message)
            throw HandoffFailure(
                .applicationFailed,
                "\(application) could not open it. Choose another application for that, or try again."
                    + " (\(reason))")
        }
    }

    /// Has an application that the bus can start open `url` (Desktop Entry Specification, "D-Bus Activation").
    private func open(
        _ url: String, with application: ApplicationID, named name: BusName, _ activationToken: String
    ) async throws {
        let owner = try await owner(of: name, application)
        let path = try ObjectPath(
            "/" + name.text.split(separator: ".").joined(separator: "/").replacing("-", with: "_"))
        var platformData: [String: Value] = [:]
        if let token = Launch.usable(activationToken) {
            platformData = ["activation-token": .string(token), "desktop-startup-id": .string(token)]
        }
        let data = platformData
        _ = try await RemoteObject(bus.connection, owner, path)
            .call("org.freedesktop.Application", "Open", output: "", timeout: Deadline.opening * 2) {
                (writer) throws(DBusError) in
                try writer.write([url])
                try writer.write(data)
            }
    }

    /// Who has the bus name of `application`, which is started if it does not run.
    /// - Throws: if that is a program in the sandbox of another one, which could have taken any name.
    private func owner(of name: BusName, _ application: ApplicationID) async throws -> BusName {
        let started = try await bus.identifiedOwner(starting: name, timeout: Deadline.opening * 2)
        guard let owner = started, let unique = owner.name else {
            throw HandoffFailure(.applicationFailed, "It has left the bus.")
        }
        try check(owner, application)
        return unique
    }

    private func check(_ owner: Caller, _ application: ApplicationID) throws(HandoffFailure) {
        guard let sandbox = owner.sandbox, !SandboxClaims.isOwn(application, sandbox) else { return }
        throw HandoffFailure(
            .accessDenied,
            "Its bus name is owned by another program, which runs in a sandbox, or about which nothing can be found"
                + " out. End that program.")
    }
}

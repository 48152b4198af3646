// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// Keeps two machines, for the `handoff twins` that has started this: it makes them, says so on its standard output, and when
/// its standard input ends, which happens however that command ends, it ends all that belongs to them.
struct TwinsKeeperVerb: Verb {
    static let name = "twins-keeper"
    static let summary = tr("Keep two machines for “handoff twins”")
    /// What it says once the machines are there, after a line with their folder.
    static let ready = "ready"

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        _ = try values.arguments(0...0, Self.name)
    }

    func run(in session: Session) async throws -> Int32 {
        // Who reads what this prints may be gone, which is a reason to tidy up.
        signal(SIGPIPE, SIG_IGN)
        await TwinsFolder.removeAbandoned()
        let ending = Awaited<Void>()
        let signals = EndingSignals { ending.come(()) }
        let input = DescriptorSource(STDIN_FILENO, .readable) { _ in ending.come(()) }
        let outcome = Awaited<CommandFailure?>()
        let folder = try TwinsFolder.make()
        MainLoop.start {
            do {
                try Output.line(folder.path)
                try await TwinsMaking(folder.path) { ending.value != nil }.run()
                try Output.line(Self.ready)
            } catch {
                outcome.come(CommandFailure(error))
                ending.come(())
            }
        }
        _ = await ending.value(within: nil)
        input.cancel()
        await TwinsFolder.remove(folder.path)
        withExtendedLifetime(signals) {}
        if let failure = outcome.value ?? nil { throw failure }
        return 0
    }
}

/// Makes two machines that are paired and connected.
@MainLoop
struct TwinsMaking {
    /// How long each step may take.
    private static let patience = Duration.seconds(60)

    private let twins: [Twin]
    private let isOver: () -> Bool

    /// - Parameter isOver: whether nothing more is to be started.
    init(_ folder: String, _ isOver: @escaping @MainLoop () -> Bool) {
        twins = Twin.names.map { Twin(twins: folder, name: $0) }
        self.isOver = isOver
    }

    /// Puts new daemons in the place of those that run.
    /// - Throws: why that is not possible.
    func restart() async throws {
        for twin in twins {
            let bus = try await Bus.connect(.address(twin.address))
            // The other one knows it there.
            let port = try await Daemon(bus: bus, name: HandoffNames.bridge).bridge.port()
            _ = try await startDaemons(of: twin, on: bus, port: port)
        }
    }

    /// Makes them.
    /// - Throws: why that is not possible.
    func run() async throws {
        var bridges: [Daemon] = []
        for twin in twins { bridges.append(try await start(twin)) }
        guard let first = bridges.first, let second = bridges.last else { return }
        let (desk, lap) = (try await first.bridge.deviceId(), try await second.bridge.deviceId())
        _ = try await first.bridge.trust(deviceId: lap, name: twins[1].name)
        _ = try await second.bridge.trust(deviceId: desk, name: twins[0].name)
        let port = try await Self.port(of: first)
        _ = try await second.bridge.connect(address: "127.0.0.1:\(port)", timeout: Self.patience)
    }

    /// Where a bridge listens, which it may have its name before it does.
    private static func port(of bridge: Daemon) async throws -> UInt16 {
        let listens = Awaited<Void>()
        bridge.bus.addMatch(MatchRule.signal(.properties, "PropertiesChanged"))
        let token = bridge.bus.connection.onSignal(.properties, "PropertiesChanged") { _ in
            MainLoop.start {
                if let port = try? await bridge.bridge.port(), port != 0 { listens.come(()) }
            }
        }
        defer { withExtendedLifetime(token) {} }
        let port = try await bridge.bridge.port()
        if port != 0 { return port }
        _ = await listens.value(within: patience)
        return try await bridge.bridge.port()
    }

    /// Starts the bus and the daemons of one of them.
    /// - Returns: its bridge.
    private func start(_ twin: Twin) async throws -> Daemon {
        try twin.make()
        try await startBus(of: twin)
        return try await startDaemons(of: twin, on: try await Bus.connect(.address(twin.address)))
    }

    /// Starts the daemons of one of them, in place of those that run.
    /// - Returns: its bridge.
    private func startDaemons(of twin: Twin, on bus: Bus, port: UInt16 = 0) async throws -> Daemon {
        // Nothing of the system they are on concerns them.
        let environment = twin.environment.merging(
            ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(twin.folder)/no-system-bus"]) { $1 }
        _ = try await start("handoffd", ["--replace"], environment, twin, on: bus, as: HandoffNames.broker)
        let bridge = try await start(
            "handoff-bridge", ["--replace", "--no-discovery", "--listen=127.0.0.1:\(port)"], environment,
            twin,
            on: bus, as: HandoffNames.bridge)
        return Daemon(bus: bus, name: bridge)
    }

    private func startBus(of twin: Twin) async throws {
        guard let program = ProgramFiles.find("dbus-daemon") else {
            throw CommandFailure(
                tr("There is no dbus-daemon in PATH. Install the package dbus-daemon, or dbus."))
        }
        var ends: [Int32] = [-1, -1]
        guard handoff_pipe(&ends, O_CLOEXEC) == 0 else {
            throw CommandFailure(tr("No pipe could be made: {reason}.", ["reason": SystemError.last]))
        }
        defer { close(ends[0]) }
        // It says its address once it can be connected to.
        let isReady = Awaited<Bool>()
        let source = DescriptorSource(ends[0], .readable) { isReady.come(!$0.contains(.hungUp)) }
        defer {
            source.cancel()
            if ends[1] >= 0 { close(ends[1]) }
        }
        _ = try launch(
            program,
            ["--session", "--nofork", "--nopidfile", "--address=\(twin.address)", "--print-address=1"],
            twin.environment, twin, output: ends[1])
        close(ends[1])
        ends[1] = -1
        guard await isReady.value(within: Self.patience) == true else {
            throw CommandFailure(
                tr("The bus of {machine} has not started.", ["machine": twin.name])
                    + Self.lastWords(twin, "dbus-daemon"))
        }
    }

    /// Starts a daemon of Handoff, and waits until it has its name, which another one may have had.
    /// - Returns: who has the name.
    private func start(
        _ program: String, _ arguments: [String], _ environment: [String: String], _ twin: Twin, on bus: Bus,
        as name: BusName
    ) async throws -> BusName {
        let former = try? await bus.owner(of: name)
        let process = try launch(try Self.path(of: program), arguments, environment, twin)
        let owner = Awaited<BusName?>()
        let watch = bus.watch(name) { if let name = $0, name != former { owner.come(name) } }
        MainLoop.start {
            _ = await process.status(within: nil)
            owner.come(nil)
        }
        let found = await owner.value(within: Self.patience) ?? nil
        withExtendedLifetime(watch) {}
        guard let found else {
            throw CommandFailure(
                tr("{program} of {machine} has not started.", ["program": program, "machine": twin.name])
                    + Self.lastWords(twin, program))
        }
        return found
    }

    private func launch(
        _ path: String, _ arguments: [String], _ environment: [String: String], _ twin: Twin,
        output: Int32? = nil
    ) throws(CommandFailure) -> ChildProcess {
        guard !isOver() else { throw CommandFailure(tr("It was interrupted.")) }
        let program = path.split(separator: "/").last.map(String.init) ?? path
        let log = open(
            "\(twin.folder)/\(program).log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, mode_t(0o600))
        guard log >= 0 else {
            throw CommandFailure(
                tr("No log can be written: {reason}.", ["reason": SystemError.last]))
        }
        defer { close(log) }
        return try ChildProcess(
            ([path] + arguments).map { Array($0.utf8) }, environment: environment,
            ChildProcess.Descriptors(output: output ?? log, errors: log))
    }

    /// Where a daemon is: beside this program, where it belongs to it, or in PATH.
    private static func path(of program: String) throws(CommandFailure) -> String {
        let own = OwnProgram.folder ?? ""
        let candidates = [own, "\(own)/../libexec", "\(own)/../lib/handoff"].map { "\($0)/\(program)" }
        guard
            let path = candidates.first(where: { access($0, X_OK) == 0 }) ?? ProgramFiles.find(program)
        else {
            throw CommandFailure(
                tr("There is no {program} beside “handoff”. Install all of Handoff.", ["program": program]))
        }
        return path
    }

    /// What a program has logged last, to be put behind a sentence.
    private static func lastWords(_ twin: Twin, _ program: String) -> String {
        let log = (try? SmallFile.read("\(twin.folder)/\(program).log", maximumSize: 1 << 20)) ?? []
        let line = log.split(separator: UInt8(ascii: "\n")).last
        return line.map { " " + tr("It says: {words}", ["words": String(decoding: $0, as: UTF8.self).shown]) }
            ?? ""
    }
}

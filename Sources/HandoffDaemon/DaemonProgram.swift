// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import Glibc
internal import HandoffInterfaces
internal import HandoffSession
package import MainLoop
package import Platform

/// The life of a daemon: its options, its bus name, and its end.
///
/// Objects are exported before the name is requested, so that whoever sees the name finds them. A name that is taken
/// already, a name that is lost, SIGTERM, SIGINT and the end of the bus end the daemon with status 0.
@MainLoop
package final class DaemonProgram {
    private let name: BusName
    private let program: String
    private let log: Log
    private nonisolated let token = RunToken()
    private var status: Int32 = 0
    private var sources: [LoopSource] = []
    private var bus: Bus?
    /// Ends the daemon, and keeps it alive for the life of the process.
    private var conclude: (@MainLoop () -> Void)?
    /// Waits for what others have to do about the end.
    private var settle: (@MainLoop () async -> Void)?
    private var isStopping = false

    /// How long the end waits for others; the daemon ends within a second.
    private static let patience = Duration.milliseconds(500)

    private init(_ program: String, _ name: BusName) {
        self.program = program
        self.name = name
        log = Log(domain: program)
    }

    /// Parses the command line, runs the daemon, and returns its exit status.
    /// - Parameters:
    ///   - options: the daemon's own options; those that every daemon has are added.
    ///   - arguments: the command line, the program's name first.
    ///   - export: makes the daemon and exports its objects.
    ///   - begin: called once the name is ours.
    ///   - end: called at the end, while the bus may still be there.
    ///   - settle: called after `end` while the bus is there, and waited for, for half a second at most.
    package nonisolated static func run<Daemon>(
        _ program: String, name: BusName, summary: String, options: [Option] = [],
        arguments: [String] = CommandLine.arguments,
        export: @escaping @MainLoop @Sendable (Bus, ProgramOptions.Values) throws -> Daemon,
        begin: @escaping @MainLoop @Sendable (Daemon) async throws -> Void,
        end: @escaping @MainLoop @Sendable (Daemon) -> Void = { _ in },
        settle: (@MainLoop @Sendable (Daemon) async -> Void)? = nil
    ) -> Int32 {
        SessionEnvironment.prepare()
        // This sets only how text is encoded, so that GLib writes names and titles as they are.
        setlocale(LC_CTYPE, "")
        Log.useStandardError()
        DescriptorLimit.raise()
        let values: ProgramOptions.Values
        switch parse(program, summary, options, arguments) {
        case .run(let parsed): values = parsed
        case .exit(let status): return status
        }
        if let shortage = DescriptorLimit.shortage {
            Log(domain: program).warning("\(program) cannot run: \(shortage)")
            return 1
        }
        let runner = MainLoop.assumeIsolated { DaemonProgram(program, name) }
        MainLoop.start { await runner.live(values, export, begin, end, settle) }
        MainLoop.run(until: runner.token)
        return MainLoop.assumeIsolated { runner.end() }
    }

    // MARK: Options

    /// An option of one daemon alone, with or without a value.
    package struct Option: Sendable {
        let name: String
        let value: String?
        let description: String

        /// An option; `value` names its value in the help text, nil for a flag.
        package init(_ name: String, value: String?, _ description: String) {
            self.name = name
            self.value = value
            self.description = description
        }
    }

    private enum Parsed {
        case run(ProgramOptions.Values)
        case exit(Int32)
    }

    private nonisolated static func parse(
        _ program: String, _ summary: String, _ own: [Option], _ arguments: [String]
    ) -> Parsed {
        var options = ProgramOptions(summary: summary)
        options.flag("replace", "Take the place of a running \(program)")
        options.flag("verbose", letter: "v", "Log debug messages too")
        for option in own {
            if let value = option.value {
                options.text(option.name, argument: value, option.description)
            } else {
                options.flag(option.name, option.description)
            }
        }
        do throws(ProgramOptions.Failure) {
            let values = try options.parse(arguments)
            if values.has("help") {
                print(options.help(program: program), terminator: "")
                return .exit(0)
            }
            if values.has("version") {
                print("\(program) \(Release.version)")
                return .exit(0)
            }
            if values.has("verbose") { Log.enableDebug() }
            return .run(values)
        } catch {
            Log(domain: program).warning("\(error)")
            return .exit(2)
        }
    }

    // MARK: Living

    private func live<Daemon>(
        _ values: ProgramOptions.Values, _ export: @MainLoop (Bus, ProgramOptions.Values) throws -> Daemon,
        _ begin: @MainLoop (Daemon) async throws -> Void, _ end: @escaping @MainLoop (Daemon) -> Void,
        _ settle: (@MainLoop @Sendable (Daemon) async -> Void)?
    ) async {
        do {
            let bus = try Bus(.session)
            self.bus = bus
            bus.connection.onClosed = { [weak self] error in
                // Then it is to be started again.
                if error.name != .disconnected { self?.status = 1 }
                self?.stop("The bus has ended.")
            }
            bus.onNameLost = { [weak self] lost in
                self?.stop("The name \(lost) was taken over.")
            }
            for signal in [SIGTERM, SIGINT] {
                sources.append(.signal(signal) { [weak self] in self?.stop("Asked to end.") })
            }
            if let warning = FileRights.warningOfWriters(of: HandoffDirectories.configurationFile) {
                log.warning(warning)
            }
            let daemon = try export(bus, values)
            conclude = { end(daemon) }
            if let settle { self.settle = { await settle(daemon) } }
            guard try await bus.request(name, replacing: values.has("replace")) == .owned else {
                return stop("\(program) is running already; use --replace to take its place.", .message)
            }
            log.debug("\(name) is owned.")
            try await begin(daemon)
        } catch {
            status = 1
            stop("\(program) cannot run: \(DBusError.converting(error).message)", .warning)
        }
    }

    private func stop(_ reason: String, _ level: Log.Level = .debug) {
        log(level, reason)
        // This happens while the loop still runs, since code of the main loop may ask whether it is on the
        // loop, and only once. The daemon itself is kept, because calls may arrive until the loop has
        // returned.
        guard !isStopping else { return }
        isStopping = true
        conclude?()
        guard let settle, bus?.connection.isClosed == false else { return token.stop() }
        sources.append(.timer(after: Self.patience) { [token] in token.stop() })
        MainLoop.start { [token] in
            await settle()
            // What that has begun to say is on its way before the daemon leaves.
            await MainLoop.start {}.value
            token.stop()
        }
    }

    private func end() -> Int32 {
        if let bus, !bus.connection.isClosed { bus.leave() }
        return status
    }
}

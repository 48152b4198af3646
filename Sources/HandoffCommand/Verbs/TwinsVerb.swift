// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import MainLoop
internal import Platform

/// `handoff twins`: two machines on one, for whoever writes an application.
struct TwinsVerb: Verb {
    static let name = "twins"
    static let arguments: String? = "[-- COMMAND…]"
    static let summary =
        tr("Make two machines on this one, to try an application, and run a shell or a command there")

    private let join: String?
    private let restarts: Bool
    private let command: [[UInt8]]?

    static func declare(_ options: inout ProgramOptions) {
        options.text(
            "join", argument: "MACHINE",
            tr(
                "Run a shell or the command on this machine of twins that already run: desk or lap, or where it is"
            )
        )
        options.flag("restart", tr("Replace the daemons of twins that already run"))
    }

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        join = values["join"]
        restarts = values.has("restart")
        let command = ProgramArguments.afterSeparator
        if command == nil, let word = values.rest.first {
            throw .usage(tr("Write “--” before the command: handoff twins -- {command} …", ["command": word]))
        }
        self.command = command?.isEmpty == true ? nil : command
    }

    func run(in session: Session) async throws -> Int32 {
        let interruption = Awaited<Void>()
        let signals = EndingSignals { interruption.come(()) }
        defer { withExtendedLifetime(signals) {} }
        let command = try command.map { (words) throws(CommandFailure) in try Self.found(words) }
        if restarts {
            let twin = try Self.twin(join ?? Twin.names[0])
            try await TwinsMaking(twin.twins) { interruption.value != nil }.restart()
            Output.note(tr("The daemons of {machines} are new.", ["machines": Twin.list]))
            return 0
        }
        if let join {
            return try await Self.runThere(try Self.twin(join), command, interruption)
        }
        let twins = try Twins()
        do {
            guard let folder = try await twins.folder(interruption) else {
                await twins.end()
                return 130
            }
            let status = try await Self.run(in: folder, command, twins, interruption)
            await twins.end()
            return status
        } catch {
            await twins.end()
            throw error
        }
    }

    /// `words`, the first of which is a program as a shell would find it.
    private static func found(_ words: [[UInt8]]) throws(CommandFailure) -> [[UInt8]] {
        guard let word = words.first, let path = ProgramFiles.find(String(decoding: word, as: UTF8.self))
        else {
            throw CommandFailure(
                tr(
                    "There is no program “{program}” in PATH.",
                    ["program": String(decoding: words.first ?? [], as: UTF8.self).shown]))
        }
        return [Array(path.utf8)] + words.dropFirst()
    }

    /// What `--join` means.
    private static func twin(_ text: String) throws(CommandFailure) -> Twin {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let name = parts.last ?? ""
        guard Twin.names.contains(name) else {
            throw .usage(
                tr(
                    "“{text}” is not one of the machines {machines}.",
                    ["text": text.shown, "machines": Twin.list]))
        }
        if parts.count > 1 {
            // Those who end the twins know them by this name alone.
            let named = parts.dropLast().joined(separator: "/")
            let folder = TwinsFolder.resolved(named) ?? named
            guard TwinsFolder.isNamed(folder), TwinsFolder.isOurs(folder), TwinsFolder.isKept(folder) else {
                throw CommandFailure(
                    tr("There are no twins in “{folder}”, or they have ended.", ["folder": folder.shown]))
            }
            return Twin(twins: folder, name: name)
        }
        if let folder = Variables.all[Twin.mark], TwinsFolder.isOurs(folder), TwinsFolder.isKept(folder) {
            return Twin(twins: folder, name: name)
        }
        let kept = TwinsFolder.kept
        guard let only = kept.first else {
            throw CommandFailure(tr("There are no twins. Make them in another terminal: handoff twins"))
        }
        guard kept.count == 1 else {
            let list = kept.map { "\n  handoff twins --join \($0)/\(name)" }.joined()
            throw .usage(tr("There are several twins. Say which ones:") + list)
        }
        return Twin(twins: only, name: name)
    }

    // MARK: Shells and commands

    @MainLoop
    private static func run(
        in folder: String, _ command: [[UInt8]]?, _ twins: Twins, _ interruption: Awaited<Void>
    ) async throws -> Int32 {
        let both = Twin.names.map { Twin(twins: folder, name: $0) }
        guard let desk = both.first, let lap = both.last else { return 1 }
        guard let command else {
            Output.note(
                tr(
                    "This is {first}. For {second}, in another terminal: {command}",
                    [
                        "first": desk.name, "second": lap.name,
                        "command": "handoff twins --join \(folder)/\(lap.name)",
                    ]))
            Output.note(
                tr(
                    "Both end with this shell. What their daemons log is in {files}.",
                    ["files": "\(folder)/*/*.log"]))
            return try await runThere(desk, nil, interruption, orUntil: twins.hasEnded)
        }
        Output.note(
            tr(
                "To look into them: {command}, or …/{second}. What their daemons log is in {files}.",
                [
                    "command": "handoff twins --join \(folder)/\(desk.name)", "second": lap.name,
                    "files": "\(folder)/*/*.log",
                ]))
        var running: [ChildProcess] = []
        for twin in both { running.append(try ChildProcess(command, environment: twin.environment)) }
        let over = Awaited<Void>()
        let (processes, statuses) = (running, Awaited<[Int32]>())
        MainLoop.start {
            var all: [Int32] = []
            for process in processes {
                all.append(ProcessEnd(await process.status(within: nil) ?? 0).exitStatus)
            }
            statuses.come(all)
            over.come(())
        }
        forward(interruption, to: over)
        forward(twins.hasEnded, to: over)
        _ = await over.value(within: nil)
        for process in processes { await process.end() }
        if interruption.value != nil { return 130 }
        return statuses.value?.first { $0 != 0 } ?? (statuses.value == nil ? 1 : 0)
    }

    /// Runs the command there, or else a shell, with this terminal.
    @MainLoop
    private static func runThere(
        _ twin: Twin, _ command: [[UInt8]]?, _ interruption: Awaited<Void>, orUntil end: Awaited<Void>? = nil
    ) async throws -> Int32 {
        let shell = TwinShell(twin)
        let words = try command ?? shell.command()
        let process = try ChildProcess(
            words, environment: twin.environment.merging(shell.variables) { $1 },
            ChildProcess.Descriptors(input: STDIN_FILENO), isForeground: true)
        let over = Awaited<Void>()
        MainLoop.start {
            _ = await process.status(within: nil)
            over.come(())
        }
        forward(interruption, to: over)
        if let end { forward(end, to: over) }
        _ = await over.value(within: nil)
        // A shell with somebody at the keyboard does not end for SIGTERM.
        process.signal(SIGHUP)
        await process.end()
        if interruption.value != nil { return 130 }
        return await process.status(within: .zero).map { ProcessEnd($0).exitStatus } ?? 1
    }

    @MainLoop
    private static func forward(_ one: Awaited<Void>, to other: Awaited<Void>) {
        MainLoop.start {
            _ = await one.value(within: nil)
            other.come(())
        }
    }
}

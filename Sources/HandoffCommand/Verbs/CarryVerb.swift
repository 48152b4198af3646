// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// `handoff carry`: reaches devices by other programs where there is no direct way, and is the other end of that.
struct CarryVerb: Verb {
    static let name = "carry"
    static let arguments: String? = "[DEVICE -- COMMAND…]"
    static let summary = tr("Reach a device by a command such as ssh, where there is no direct way to it")
    static let completion = Completion.peers
    static let completions = ["listen": Completion.files]
    static let jsonSummary = tr("Print failures as JSON, for programs")

    private let task: CarryTask

    static func declare(_ options: inout ProgramOptions) {
        options.text(
            "label", argument: "TEXT",
            tr("The name of the carrier, for people (default: the name of the command)"))
        options.flag(
            "all", tr("Run all carriers in the group [Carriers] of handoff.conf"))
        options.flag(
            "accept",
            tr("Be the other end: standard input and output are a connection from another device"))
        options.text(
            "listen", argument: "PATH",
            tr("Be the other end for all connections to a Unix socket, which is made at this path"))
    }

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        task = try CarryTask(values, command: ProgramArguments.afterSeparator)
        if task == .accept { try StandardConnection.check() }
    }

    var streamsBytes: Bool { task == .accept }

    func run(in session: Session) async throws -> Int32 {
        Self.findBus()
        switch task {
        case .device(let entry): return try await carry(entry, in: session)
        case .all: return try await carryAll(in: session)
        case .accept:
            try await StandardConnection.carry(to: try await session.bridge())
            return 0
        case .listen(let path):
            let run = try ListeningRun(session)
            return try await run.run(at: path, try await session.bridge())
        }
    }

    /// A login by ssh names no bus. The user's own is where those who start sessions have it.
    private static func findBus() {
        let variables = Variables.all
        let isNamed = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"].contains {
            variables[$0]?.isEmpty == false
        }
        if !isNamed { setenv("XDG_RUNTIME_DIR", "/run/user/\(getuid())", 1) }
    }

    @MainLoop
    private func carry(_ entry: CarrierEntry, in session: Session) async throws -> Int32 {
        let carrier = (entry: entry, command: try entry.located())
        let run = try CarryingRun(session, [carrier], isStrict: true, SaidOnce())
        // Later on, if the bridge ends, it is waited for and not started again.
        _ = try await session.bridge()
        return try await run.run()
    }

    @MainLoop
    private func carryAll(in session: Session) async throws -> Int32 {
        let said = SaidOnce()
        guard let carriers = try Self.configured(said) else { return 0 }
        guard !carriers.isEmpty else {
            throw CommandFailure(tr("None of the carriers in handoff.conf can be used."))
        }
        let run = try CarryingRun(session, carriers, isStrict: false, said)
        do {
            _ = try await session.bridge()
        } catch {
            said.say(CommandFailure(error).message)
        }
        return try await run.run()
    }

    /// The carriers in `handoff.conf` that can be used; nil if nothing is said there of carriers. What is wrong with the others
    /// is told.
    @MainLoop
    private static func configured(
        _ said: SaidOnce
    ) throws(CommandFailure) -> [(entry: CarrierEntry, command: [[UInt8]])]? {
        let configuration: KeyFile?
        do throws(KeyFileError) {
            configuration = try KeyFile.load(HandoffDirectories.configurationFile)
        } catch {
            throw CommandFailure(error.description.shown)
        }
        guard let file = configuration, !file.keys(in: CarrierEntry.group).isEmpty else { return nil }
        let (entries, flaws) = CarrierEntry.all(in: file)
        for flaw in flaws { said.say(flaw) }
        var carriers: [(entry: CarrierEntry, command: [[UInt8]])] = []
        for entry in entries {
            do throws(CommandFailure) {
                carriers.append((entry, try entry.located()))
            } catch {
                said.say(CommandFailure.unusable(entry.device, error.message).message)
            }
        }
        return carriers
    }
}

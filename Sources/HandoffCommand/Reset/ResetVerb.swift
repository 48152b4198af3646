// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff reset`: makes Handoff forget everything.
struct ResetVerb: Verb {
    static let name = "reset"
    static let summary = tr("Forget everything: the key, the peers and the settings; asks first")

    private let isSure: Bool
    /// How long the bridge may take to say who is paired.
    private static let patience = Duration.seconds(3)

    static func declare(_ options: inout ProgramOptions) {
        options.flag("yes", tr("Do not ask, for scripts"))
    }

    init(_ values: ProgramOptions.Values) throws(CommandFailure) { isSure = values.has("yes") }

    func run(in session: Session) async throws -> Int32 {
        // What a sandbox sees of the files and the daemons is not what there is.
        guard Sandbox.own == nil else {
            throw CommandFailure(tr("This does not work in a sandbox. Use a terminal of the host."), .refused)
        }
        try await ask(session)
        let (standstill, state, farewells) = try await end(session)
        let keepsNotices = try await Self.agentRuns(session)
        let failures = try await BackgroundThread.run("reset") { state.remove(keepsNotices: keepsNotices) }
        await standstill?.end()
        if !session.printsJSON { try Output.lines(Self.report(standstill, isWhole: failures.isEmpty)) }
        guard failures.isEmpty else {
            throw CommandFailure(
                ([tr("Not everything could be removed.")] + failures + [
                    tr("Fix that, then run “handoff reset” again.")
                ])
                .joined(separator: "\n  "))
        }
        if session.printsJSON { try Output.json(farewells.json) }
        return 0
    }

    // MARK: The question

    @MainLoop
    private func ask(_ session: Session) async throws {
        if isSure { return }
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            throw CommandFailure.usage(
                tr(
                    "There is no terminal in which to ask whether Handoff is to forget everything. If it is,"
                        + " give --yes."
                )
            )
        }
        let lines = await Self.question(of: Self.peers(session))
        // What was typed before the question is no answer to it.
        tcflush(STDIN_FILENO, TCIFLUSH)
        Output.error(lines.joined(separator: "\n") + "\n" + tr("Type “yes” to continue:") + " ")
        let (answers, feed) = AsyncStream<String?>.makeStream()
        let keyboard = Keyboard { feed.yield($0) }
        keyboard.readLine()
        for await answer in answers {
            let words = answer?.split(whereSeparator: \.isWhitespace).map { $0.lowercased() }
            if words == ["yes"] || words == [tr("yes")] { return }
            throw CommandFailure(tr("Nothing was changed."), .refused)
        }
    }

    /// The devices that are paired, as far as that is known without starting anything.
    @MainLoop
    private static func peers(_ session: Session) async -> [KnownDevice] {
        guard SessionBus.isKnown, let bridge = try? await session.running(HandoffNames.bridge) else {
            return []
        }
        return (try? await bridge.devices(timeout: patience).filter(\.isPaired)) ?? []
    }

    private static func question(of peers: [KnownDevice]) -> [String] {
        [
            tr("Handoff will forget everything on this device:"),
            tr("  - its key and its id: for others it will be another device;"),
            tr("  - the devices that it is paired with, which have to be paired again;"),
        ] + peers.map { "      \($0.label.inQuotes)" } + [
            tr("  - its settings, {file};", ["file": StoredState.configuration]),
            tr("  - what it remembers of sites and of notifications."),
            tr("Handoff ends in this session, and with it what is being continued. Received documents stay."),
        ]
    }

    // MARK: The end

    @MainLoop
    private func end(_ session: Session) async throws -> (Standstill?, StoredState, Farewells?) {
        // Over ssh there may be none. A bridge of another session is found by its lock.
        guard SessionBus.isKnown else { return (nil, try StoredState(), nil) }
        let farewells = try await sayFarewell(session)
        do {
            if !session.printsJSON { try Output.lines(farewells?.lines ?? []) }
            return (try await Standstill(session), try StoredState(), farewells)
        } catch {
            throw Self.failure(error, after: farewells)
        }
    }

    /// Tells the peers, once it is known that no other bridge is in the way: this cannot be undone.
    /// - Returns: nil if there is no bridge here, or it does not say who its peers are.
    @MainLoop
    private func sayFarewell(_ session: Session) async throws -> Farewells? {
        guard let bridge = try await session.running(HandoffNames.bridge) else {
            try StoredState.demandUnused(besides: nil)
            return nil
        }
        let caller = try? await bridge.bus.identifiedOwner(of: bridge.name)
        if let process = caller?.credentials?.processID { try StoredState.demandUnused(besides: process) }
        do {
            return try await Farewells(by: bridge)
        } catch {
            Output.note(
                tr("The bridge has told no peer: {reason}", ["reason": CommandFailure(error).message]))
            return nil
        }
    }

    /// `error`, with what was done before it.
    private static func failure(_ error: any Error, after farewells: Farewells?) -> CommandFailure {
        let failure = CommandFailure(error)
        guard let former = farewells?.unpaired, !former.isEmpty else { return failure }
        let names = former.map(\.label.inQuotes).joined(separator: ", ")
        return CommandFailure(
            failure.message + " " + tr("The pairing with {devices} has ended already.", ["devices": names]))
    }

    @MainLoop
    private static func agentRuns(_ session: Session) async throws -> Bool {
        guard SessionBus.isKnown else { return false }
        return try await session.bus().owner(of: HandoffNames.agent) != nil
    }

    @MainLoop
    private static func report(_ standstill: Standstill?, isWhole: Bool) -> [String] {
        var lines = isWhole ? [tr("Handoff has forgotten everything on this device.")] : []
        if standstill == nil {
            lines.append(tr("Without a session bus no peer could be told: run “handoff unpair” on each."))
        }
        if standstill?.hasEndedAny == true {
            lines.append(
                tr("Handoff has ended in this session. It starts as a new device when it is used again."))
        }
        return lines + [tr("Documents that were received are still where they are.")]
    }
}

extension Farewells {
    /// Who knows, and who does not, for people.
    fileprivate var lines: [String] {
        told.map { tr("“{device}” knows that it is not paired any more.", ["device": $0.label.shown]) }
            + untold.map {
                tr(
                    "“{device}” could not be told that it is not paired any more: run “handoff unpair” there.",
                    ["device": $0.label.shown])
            }
    }
}

extension Farewells? {
    /// Who knows, and who does not, for programs.
    fileprivate var json: JSON {
        [
            "told": .array((self?.told ?? []).map { $0.json() }),
            "untold": .array((self?.untold ?? []).map { $0.json() }),
        ]
    }
}

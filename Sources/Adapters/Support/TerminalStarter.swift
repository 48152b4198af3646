// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore
package import HandoffStarting
package import MainLoop
internal import Platform

/// Starts a terminal in which this program runs an errand.
@MainLoop
package final class TerminalStarter {
    private let starter: ProgramStarter
    private let errands = WaitingErrands(patience: patience)

    /// How long an errand is kept for a terminal that is slow to begin.
    private static let patience = Duration.seconds(60)
    /// How long a terminal is watched that may fail at once.
    private static let trial = Duration.milliseconds(500)

    /// Starts terminals with `starter`.
    package init(_ starter: ProgramStarter) { self.starter = starter }

    /// Whether a terminal was started that has not taken its errand yet. Until then this program has to be there, which
    /// takes it back.
    package var isWaited: Bool { !errands.isEmpty }

    /// Called when ``isWaited`` may be different.
    package var onWaitedChange: (@MainLoop () -> Void)? {
        get { errands.onChange }
        set { errands.onChange = newValue }
    }

    /// Starts a terminal that runs this program as the adapter `name` with `option` and an errand of `words`.
    /// - Parameters:
    ///   - application: as what the terminal is started.
    ///   - activationToken: lets it raise its window.
    /// - Throws: if there is no terminal, or it fails at once.
    package func run(
        _ name: String, _ option: String, _ words: [String], as application: ApplicationID,
        activationToken: String
    ) async throws {
        guard let (command, errand) = try await Self.prepare(name, option, words) else {
            throw HandoffFailure(
                .applicationFailed,
                tr(
                    "No terminal that Handoff knows is installed here. Install one, for example xterm, and try again."
                ))
        }
        errands.add(errand)
        let launch = Launch(
            application, program: command[0], arguments: command, activationToken: activationToken)
        do {
            try await starter.running(launch) { try await $0.check(within: Self.trial) }
        } catch {
            errands.drop(errand)
            throw error
        }
    }

    private static func prepare(
        _ name: String, _ option: String, _ words: [String]
    ) async throws -> (command: [String], errand: String)? {
        try await BackgroundThread.run("terminal") {
            let desktop = Variables.all["XDG_CURRENT_DESKTOP"] ?? ""
            guard let folder = OwnProgram.folder,
                let (terminal, path) = Terminal.installed(desktop: desktop, find: ProgramFiles.find)
            else { return nil }
            let errand = try Errand.leave(words)
            let own = ["\(folder)/handoff-adapter", name, option, errand]
            return (terminal.command(path, running: own), errand)
        }
    }
}

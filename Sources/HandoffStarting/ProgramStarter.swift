// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffCore
internal import HandoffSession
package import MainLoop
package import Platform

/// Starts programs, which do not end with this process.
@MainLoop
package final class ProgramStarter {
    private let services: UserServices
    private let looks: FileLooks
    private let log: Log
    /// What reads the standard error of programs, and what waits for children, until they end.
    private var outputs: [Int: ErrorOutput] = [:]
    private var children: [Int32: ChildWatch] = [:]
    private var nextNumber = 0

    /// Starts them as units of the user's systemd where that is on `bus`. `looks` is where what may block is done.
    package init(_ bus: Bus, _ looks: FileLooks, _ log: Log) {
        services = UserServices(bus, log)
        (self.looks, self.log) = (looks, log)
    }

    /// Starts a program, and calls `body` with it: in a unit of its own where the user's systemd runs, else as a child.
    package func running(
        _ launch: Launch, _ body: @MainLoop (StartedProgram) async throws -> Void
    ) async throws {
        let pipe = try ErrorPipe.make()
        let program = StartedProgram(launch.application, read(pipe.ours, of: launch.application), looks, log)
        guard await services.isThere() else {
            try await spawn(launch, pipe.theirs, program)
            return try await body(program)
        }
        var generator = UnpredictableNumbers()
        let name = UnitName(launch.application, random: generator.next())
        let unit = try await services.start(launch, name, errors: pipe.theirs, program)
        log.debug("\(launch.application) runs in \(name).")
        defer { services.forget(unit) }
        try await body(program)
    }

    private func read(_ descriptor: consuming FileDescriptor, of application: ApplicationID) -> ErrorOutput {
        nextNumber += 1
        let number = nextNumber
        let output = ErrorOutput(descriptor) { [log] line in
            log.debug("\(application) says: \(line)")
        } onEnd: { [weak self] in
            self?.outputs[number] = nil
        }
        outputs[number] = output
        return output
    }

    /// Starts a program as a child that outlives this process.
    private func spawn(
        _ launch: Launch, _ errors: consuming FileDescriptor, _ program: StartedProgram
    ) async throws {
        let environment = SessionEnvironment.variables.merging(launch.environment) { $1 }
        let folder = launch.folder ?? environment["HOME"] ?? "/"
        let number = errors.number
        // Executing a program blocks as long as the file system does. It is waited for, since what is used for it has to
        // stay, and the process has to be reaped.
        let process = try await looks.find(.starting, of: launch.application.description, within: nil) {
            try ProgramFiles.spawn(
                launch.program, launch.arguments, environment: environment, folder: folder,
                standardError: number)
        }
        children[process] = ChildWatch(process) { [weak self] status in
            self?.children[process] = nil
            program.ended(ProgramEnd(status: status))
        }
        log.debug("\(launch.application) runs as process \(process).")
    }
}

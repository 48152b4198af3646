// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
package import HandoffCore
internal import HandoffSession
package import MainLoop
internal import Platform

/// How a program ended.
package enum ProgramEnd: Equatable, Sendable {
    /// By itself, with this status.
    case exited(Int32)
    /// By this signal.
    case signalled(Int32)
    /// Before it ran, or in another way; what systemd calls that.
    case failed(String)

    /// What wait(2) says.
    init(status: Int32) {
        let signal = status & 0x7F
        self = signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }

    /// Whether it has done what it was started for, or has handed that to another.
    package var isSuccess: Bool { self == .exited(0) }

    /// Whether the program has made a mistake that ends it, and nobody has ended it.
    package var isCrash: Bool {
        guard case .signalled(let number) = self else { return false }
        return [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP].contains(number)
    }

    /// What has become of the program, for people: goes on after its name.
    package var text: String {
        switch self {
        case .exited(let status): "ended with status \(status)"
        case .signalled(let number):
            "was ended by signal \(number)" + (strsignal(number).map { " (\(String(cString: $0)))" } ?? "")
        case .failed(let result): "did not run (\(PeerText.message(result)))"
        }
    }
}

/// A program that was started, for as long as that matters to somebody.
@MainLoop
package final class StartedProgram {
    /// Which application it is.
    package let application: ApplicationID
    private let errors: ErrorOutput
    private let looks: FileLooks
    private let log: Log
    private var hasEnded = false
    /// What it was waited for: how it ended, or nil if that does not matter any longer.
    private let outcome = Awaited<ProgramEnd?>()

    init(_ application: ApplicationID, _ errors: ErrorOutput, _ looks: FileLooks, _ log: Log) {
        (self.application, self.errors, self.looks, self.log) = (application, errors, looks, log)
    }

    /// The program has ended, as was learnt now. Only the first end counts.
    func ended(_ end: ProgramEnd) {
        guard !hasEnded else { return }
        hasEnded = true
        log.debug("\(application) \(end.text).")
        outcome.come(end)
    }

    /// Nobody has to wait for its end any longer: what it was started for has happened.
    package func release() { outcome.come(nil) }

    /// Waits for its end, for at most `time`.
    /// - Returns: how it ended; nil if it still runs, or has been released.
    package func end(within time: Duration) async -> ProgramEnd? { await outcome.value(within: time) ?? nil }

    /// Waits for at most `time` whether it fails. One that ends well may have handed over to another.
    /// - Throws: ``failure(_:_:)`` with `context` if it fails.
    package func check(within time: Duration, _ context: String = "") async throws {
        if let end = await end(within: time), !end.isSuccess { throw await failure(end, context) }
    }

    /// Why it has failed, for people, if it has `ended` like this.
    package func failure(_ ended: ProgramEnd, _ context: String) async -> HandoffFailure {
        let line = errors.lastLine()
        let name = await name()
        // What a program says while it crashes helps nobody who did not write it; it is in the log.
        if ended.isCrash { return .crashed(name) }
        return HandoffFailure(
            .applicationFailed,
            "\(name) \(ended.text)\(context)." + (line.isEmpty ? "" : " Its last message: \(line)"))
    }

    /// What its desktop entry calls the application; its id if there is none.
    private func name() async -> String {
        let application = application
        let found: String?? = await looks.look(.starting, of: application.description) {
            try? DesktopEntry.find(application)?.localizedString("Name")
        }
        let name = PeerText.name((found ?? nil) ?? "")
        return name.isEmpty ? application.description : name
    }
}

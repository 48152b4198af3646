// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import MainLoop
internal import Platform

/// How a program ended.
enum ProgramEnd: Equatable, Sendable {
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
    var isSuccess: Bool { self == .exited(0) }

    /// What has become of the program, for people: goes on after its name.
    var text: String {
        switch self {
        case .exited(let status): "ended with status \(status)"
        case .signalled(let number):
            "was ended by signal \(number)" + (strsignal(number).map { " (\(String(cString: $0)))" } ?? "")
        case .failed(let result): "did not run (\(PeerText.message(result)))"
        }
    }
}

/// A program that the broker has started, for as long as that matters to somebody.
@MainLoop
final class StartedProgram {
    /// Which application it is.
    let application: ApplicationID
    private let errors: ErrorOutput
    private var hasEnded = false
    /// What it was waited for: how it ended, or nil if that does not matter any longer.
    private let outcome = Awaited<ProgramEnd?>()

    init(_ application: ApplicationID, _ errors: ErrorOutput) {
        (self.application, self.errors) = (application, errors)
    }

    /// The program has ended, as was learnt now. Only the first end counts.
    func ended(_ end: ProgramEnd) {
        guard !hasEnded else { return }
        hasEnded = true
        brokerLog.debug("\(application) \(end.text).")
        outcome.come(end)
    }

    /// Nobody has to wait for its end any longer: what it was started for has happened.
    func release() { outcome.come(nil) }

    /// Waits for its end, for at most `time`.
    /// - Returns: how it ended; nil if it still runs, or has been released.
    func end(within time: Duration) async -> ProgramEnd? { await outcome.value(within: time) ?? nil }

    /// Why it has failed, for people, if it has `ended` like this.
    func failure(_ ended: ProgramEnd, _ context: String) -> HandoffFailure {
        let line = errors.lastLine()
        return HandoffFailure(
            .applicationFailed,
            "\(application) \(ended.text)\(context)." + (line.isEmpty ? "" : " Its last message: \(line)"))
    }
}

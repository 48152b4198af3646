// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import MainLoop
internal import Platform

/// The command that `handoff receive --run` runs with each activity, as often as it is under way.
@MainLoop
final class ReceivingCommands {
    /// How long it may take until the activity counts as continued: a command that still runs then shows it to the user. It
    /// is less than the broker waits.
    static let patience = Duration.seconds(20)
    /// How often it may be under way: as often as the broker hands over activities at the same time.
    private static let maximumRunning = 8

    private let command: String
    private var running: [Int: ShellCommand] = [:]
    private var last = 0
    private var isEnding = false
    private var waiting: Awaited<Void>?

    init(_ command: String) { self.command = command }

    /// Runs it with the arguments of `ContinueActivity`, and waits until it has ended, or has run for a while.
    /// - Throws: why the activity was not continued, for the user to read.
    func run(_ activity: [String: Value], _ context: [String: Value]) async throws {
        guard running.count < Self.maximumRunning, !isEnding else {
            throw HandoffFailure(
                .applicationFailed,
                tr(
                    "{count} commands that continue activities are running already. Try again when one has ended.",
                    ["count": "\(running.count)"])
            )
        }
        let variables = [
            "HANDOFF_ACTIVITY_TYPE": activity.text("ActivityType"), "HANDOFF_TITLE": activity.text("Title"),
            "HANDOFF_DEVICE_ID": context.text("DeviceId"), "HANDOFF_DEVICE_NAME": context.text("DeviceName"),
        ]
        let line = Array(ReceivedActivity(activity, context).json.text.utf8) + [UInt8(ascii: "\n")]
        let run: ShellCommand
        do throws(CommandFailure) {
            run = try ShellCommand(command, variables, input: line, taking: .complaints)
        } catch {
            throw HandoffFailure(.applicationFailed, error.message)
        }
        last += 1
        let number = last
        running[number] = run
        let outcome = Awaited<ShellCommand.Outcome>()
        MainLoop.start { [self] in
            let one = await run.outcome(within: nil)
            running[number] = nil
            if !outcome.come(one) { tell(one) }
            if running.isEmpty { waiting?.come(()) }
        }
        guard let outcome = await outcome.value(within: Self.patience), let reason = Self.reason(outcome)
        else {
            return
        }
        Output.note(reason)
        throw HandoffFailure(.applicationFailed, reason)
    }

    /// Tells of a failure that comes too late for the other device.
    private func tell(_ outcome: ShellCommand.Outcome) {
        if !isEnding, let reason = Self.reason(outcome) { Output.note(reason) }
    }

    /// Why the activity was not continued; nil if it was.
    private static func reason(_ outcome: ShellCommand.Outcome) -> String? {
        guard let end = outcome.end, end != .exited(0) else { return nil }
        let reason = tr("The command that continues activities {end}.", ["end": end.text])
        if outcome.complaint.isEmpty { return reason }
        return reason + " " + tr("Its last words are: {words}", ["words": outcome.complaint.shown])
    }

    /// Waits until it is not under way any more.
    func idle() async {
        if running.isEmpty { return }
        let waiting = self.waiting ?? Awaited<Void>()
        self.waiting = waiting
        _ = await waiting.value(within: nil)
    }

    /// Ends it, as often as it is under way.
    func end() async {
        isEnding = true
        for run in running.values { await run.end() }
    }
}

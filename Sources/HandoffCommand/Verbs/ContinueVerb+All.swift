// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffCore
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff continue --all`: continues what is open at a device, as far as something here can, and waits until all is over.
extension ContinueVerb {
    /// Asks the device, then the user, and returns the exit status.
    @MainLoop
    func continueAll(in session: Session) async throws -> Int32 {
        guard isSure || Terminal.canAsk else {
            throw CommandFailure.usage(
                tr(
                    "There is no terminal in which to ask what is to be continued. To continue everything, give --yes."
                ))
        }
        let broker = try await session.broker()
        // From here on, the broker tells this connection of changes.
        _ = try await broker.brokerObjects()
        let open = try await OpenActivities.ask(device, broker, in: session)
        let meant = open.offers.filter(\.canContinue)
        if !open.offers.isEmpty, !isSure || !session.printsJSON {
            let lines = open.lines(within: Terminal.columns(of: STDERR_FILENO))
            Output.error(lines.joined(separator: "\n") + "\n")
        }
        guard !meant.isEmpty else { throw CommandFailure(open.nothingToContinue, .notFound) }
        if !isSure { try await ask(open.question(meant.count)) }
        let run = ContinuingAllRun(broker, meant, self, printsJSON: session.printsJSON)
        let isKnown = try await run.isKnown(of: Self.activation)
        let report = run.report
        let failure = isKnown ? report.failure(run.isInterrupted, open.device) : report.lost
        if session.printsJSON {
            try Output.json(report.json(open, failure))
        } else if isKnown {
            try Output.line(report.summary(open.device))
        }
        if let failure, session.printsJSON || !isKnown { Output.note(failure.message) }
        return failure?.status ?? 0
    }

    /// Asks whether to continue them.
    /// - Throws: a failure if the answer is not yes.
    @MainLoop
    private func ask(_ question: String) async throws {
        let (answers, feed) = AsyncStream<String?>.makeStream()
        let keyboard = Keyboard { feed.yield($0) }
        defer { withExtendedLifetime(keyboard) {} }
        // What was typed before the question is no answer to it.
        tcflush(STDIN_FILENO, TCIFLUSH)
        Output.error(question + " ")
        keyboard.readLine()
        for await answer in answers {
            if TypedAnswer.agrees(answer) == true { return }
            break
        }
        throw CommandFailure(tr("Nothing was continued."), .refused)
    }
}

extension OpenActivities {
    /// Why there is nothing that could be continued here.
    var nothingToContinue: String {
        offers.isEmpty
            ? nothing
            : tr(
                "Nothing here continues what is open at “{device}”. “{command}” says why.",
                ["device": device.label.shown, "command": Self.command])
    }

    /// The question whether to continue so many of them.
    func question(_ count: Int) -> String {
        let values = ["device": device.label.shown, "all": "\(offers.count)"]
        if count == offers.count {
            return trn(
                "Continue {count} activity of “{device}” here? [y/N]",
                "Continue {count} activities of “{device}” here? [y/N]", count: count, values)
        }
        return tr(
            "Continue {count} of {all} activities of “{device}” here? [y/N]",
            values.merging(["count": "\(count)"]) { $1 })
    }
}

extension ContinueAllReport {
    /// How far they are, in a few words.
    var progress: String {
        let values = ["done": "\(done)", "total": "\(entries.count)", "failed": "\(failed)"]
        return failed == 0
            ? tr("{done} of {total} continued", values)
            : tr("{done} of {total} continued, {failed} failed", values)
    }

    /// How many of `device` were continued, when all is over.
    func summary(_ device: KnownDevice) -> String {
        trn(
            "{done} of {count} activity of “{device}” was continued.",
            "{done} of {count} activities of “{device}” were continued.", count: entries.count,
            ["done": "\(done)", "device": device.label.shown])
    }

    /// That not all were continued, for the exit status; nil if all were. Only what all of them have failed for has a status
    /// and a name of its own.
    func failure(_ isInterrupted: Bool, _ device: KnownDevice) -> CommandFailure? {
        let failures = entries.compactMap(\.outcome?.failure)
        guard let first = failures.first else { return nil }
        let kind = failures.allSatisfy { $0.status == first.status } ? first.status : 1
        let failure = CommandFailure(
            summary(device), FailureKind(rawValue: kind) ?? .failed,
            name: failures.allSatisfy { $0.name == first.name } ? first.name : nil)
        return isInterrupted ? failure.interrupted : failure
    }

    /// That the broker has ended before it has said what has become of all.
    var lost: CommandFailure {
        CommandFailure(
            tr(
                "The broker ended before everything was finished: {done} of {total} were continued. Look at "
                    + "what is open here before you continue the rest.",
                ["done": "\(done)", "total": "\(entries.count)"]),
            .notRunning)
    }

    /// The outcome for programs. `failure`: that of the command.
    func json(_ open: OpenActivities, _ failure: CommandFailure?) -> JSON {
        [
            "deviceId": .string(open.device.id), "deviceName": .string(open.device.name),
            "total": .integer(entries.count), "done": .integer(done), "failed": .integer(failed),
            "results": .array(entries.map(\.json)),
            "left": .array(open.offers.filter { !$0.canContinue }.map(\.json)),
            "error": failure?.json ?? .null,
        ]
    }
}

extension ContinueAllReport.Entry {
    fileprivate var json: JSON {
        let note = state == .continued ? outcome?.message ?? "" : ""
        return [
            "activityId": .string(offer.id), "deviceId": .string(offer.deviceID),
            "deviceName": .string(offer.deviceName), "activityType": .string(offer.type),
            "title": .string(offer.title), "handler": applicationID.isEmpty ? .null : .string(applicationID),
            "state": .string(state.rawValue),
            "note": note.isEmpty ? .null : .string(note),
            "error": outcome?.failure?.json ?? .null,
        ]
    }
}

/// One call of `ContinueAll`, and what the user sees of it.
@MainLoop
private final class ContinuingAllRun {
    private let call: ContinueAllCall
    private let verb: ContinueVerb
    private let printsJSON: Bool
    private let progress = ProgressLine()
    private let interruption: Interruption

    init(_ broker: Daemon, _ offers: [RemoteOffer], _ verb: ContinueVerb, printsJSON: Bool) {
        let call = ContinueAllCall(broker, offers)
        (self.call, self.verb, self.printsJSON) = (call, verb, printsJSON)
        interruption = Interruption(progress) { try await call.cancel() }
        call.onAccepted = { [weak self] in self?.accepted() }
        call.onChange = { [weak self] in self?.changed($0) }
    }

    /// What has become of each.
    var report: ContinueAllReport { call.report }
    /// Whether the user has wanted it to end, with the signal of a terminal.
    var isInterrupted: Bool { interruption.hasCome }

    /// Calls `ContinueAll`, waits until all is over, and says what there is to say of each. Returns whether that is known of all.
    func isKnown(of options: [String: Value]) async throws -> Bool {
        defer { progress.end() }
        do {
            _ = try await call.outcome(of: options)
        } catch ContinueCall.Failure.brokerEnded {
            // What follows says so.
        }
        progress.end()
        for entry in report.entries where progress.isTerminal { tell(entry, isBrief: true) }
        for entry in report.entries where entry.outcome == nil {
            Output.note(
                tr(
                    "Whether “{title}” was continued is not known.", ["title": entry.offer.label.shown]))
        }
        return report.isOver
    }

    private func accepted() {
        progress.show(report.progress)
        interruption.accepted()
    }

    private func changed(_ before: ContinueAllReport) {
        progress.show(report.progress)
        if progress.isTerminal { return }
        for (former, entry) in zip(before.entries, report.entries) where former.outcome == nil {
            tell(entry, isBrief: false)
        }
    }

    /// Says how `entry` ended, if it has. `isBrief`: nothing of what has gone as it should.
    private func tell(_ entry: ContinueAllReport.Entry, isBrief: Bool) {
        guard let outcome = entry.outcome else { return }
        if let failure = outcome.failure { return Output.note(entry.offer.words(of: failure)) }
        if printsJSON { return }
        // That nobody reads any more is no reason to continue nothing.
        if !isBrief { try? Output.line(verb.success(outcome, entry.offer)) }
        if !outcome.message.isEmpty { Output.note(outcome.message.shown) }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// `handoff continue`: continues an activity here and waits for the outcome.
struct ContinueVerb: Verb {
    static let name = "continue"
    static let arguments: String? = "ID"
    static let summary = "Continue an activity here, by its id or the beginning of it"

    private let id: String
    private let application: String?
    private let remembers: Bool
    private let isVerbose: Bool
    private let printsJSON: Bool

    static func declare(_ options: inout ProgramOptions) {
        options.text("app", argument: "ID", "The application to continue it with (default: the best one)")
        options.flag("remember", "Continue activities of this type in that application from now on")
        options.flag("verbose", letter: "v", "Report what happens, and how long it takes")
        options.json()
    }

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        id = try values.arguments(1...1, "continue ID")[0]
        application = values["app"]
        remembers = values.has("remember")
        guard !remembers || application != nil else {
            throw .usage("--remember goes with --app, which says which application is to be remembered.")
        }
        isVerbose = values.has("verbose")
        printsJSON = values.has("json")
    }

    func run(in session: Session) async throws -> Int32 {
        let broker = try await session.broker()
        let offer = try RemoteOffer.all(in: try await broker.brokerObjects()).choose(id)
        let run = ContinueRun(broker, offer, isVerbose: isVerbose)
        let outcome = try await run.outcome(of: options)
        if isVerbose { tell(run.trace) }
        try tell(outcome, offer, run.trace, after: run.elapsed)
        // What a shell says of a program that this signal has ended.
        if run.isInterrupted, !outcome.isSuccess { return 128 + SIGINT }
        return outcome.isSuccess ? 0 : 1
    }

    private var options: [String: Value] {
        var options: [String: Value] = [:]
        if let application { options["ApplicationId"] = .string(application) }
        if remembers { options["Remember"] = .boolean(true) }
        if isVerbose || printsJSON { options["Trace"] = .boolean(true) }
        // A launcher may have given a token that lets the application raise its window.
        for variable in ["XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID"] {
            guard options["ActivationToken"] == nil, let token = getenv(variable), token.pointee != 0 else {
                continue
            }
            options["ActivationToken"] = .string(String(cString: token))
        }
        return options
    }

    /// The phases in the order in which they begin, then any that this version does not know.
    private static func phases(of trace: RemoteActivityContinueTrace?) -> [(String, Int64)] {
        guard let phases = trace?.phases else { return [] }
        let known = ["request", "save", "transfer", "start", "deliver"]
        let others = phases.keys.filter { !known.contains($0) }.sorted()
        return (known + others).compactMap { name in phases[name].map { (name, $0) } }
    }

    private func tell(_ trace: RemoteActivityContinueTrace?) {
        guard let trace else { return }
        Output.note("continuation \(trace.continuation.shown):")
        for (name, microseconds) in Self.phases(of: trace) {
            Output.note("  \(name.shown.padded(to: 10))\(Age.milliseconds(microseconds))")
        }
    }

    private func tell(
        _ outcome: ContinueCall.Outcome, _ offer: RemoteOffer, _ trace: RemoteActivityContinueTrace?,
        after elapsed: Int64
    ) throws {
        if printsJSON {
            let line: JSON = [
                "id": .string(offer.id), "deviceId": .string(offer.deviceID),
                "applicationId": .string(outcome.applicationID), "errorName": .string(outcome.errorName),
                "message": .string(outcome.message), "microseconds": .integer(elapsed),
                "continuation": trace.map { .string($0.continuation) } ?? .null,
                "phases": .object(Self.phases(of: trace).map { JSON.Member(name: $0, value: .integer($1)) }),
            ]
            try Output.line(line.text)
        } else if outcome.isSuccess {
            let place = outcome.applicationID.isEmpty ? "" : " in \(outcome.applicationID.shown)"
            // These are handed to whatever opens pages and documents.
            let isOpened = [ActivityType.browsingWeb.description, PublishVerb.documentType].contains(
                offer.type)
            try Output.line(
                "\(isOpened ? "Opened" : "Continued") \(offer.label.quoted) of \(offer.device.quoted)\(place)."
            )
        }
        if !outcome.isSuccess {
            let reason = outcome.message.isEmpty ? outcome.errorName : outcome.message
            // The words may be those of another device, or of an application.
            Output.note("\(offer.label.quoted) was not continued: \(ChosenText(message: reason).quoted)")
        }
    }
}

/// One call of `Continue`, and what the user sees of it.
@MainLoop
private final class ContinueRun {
    private let call: ContinueCall
    private let isVerbose: Bool
    private let begin = MainLoop.now
    private let progress = ContinueProgress()
    private let offer: RemoteOffer
    private var signal: LoopSource?
    /// Whether the broker has accepted the call, which can be cancelled from then on.
    private var isAccepted = false
    /// Whether the user has wanted it to end, with the signal of a terminal.
    private(set) var isInterrupted = false

    init(_ broker: Daemon, _ offer: RemoteOffer, isVerbose: Bool) {
        call = ContinueCall(broker, offer)
        self.offer = offer
        self.isVerbose = isVerbose
        call.onAccepted = { [weak self] in self?.accepted() }
        call.onChange = { [weak self] in self?.changed($0, $1) }
        signal = .signal(SIGINT) { [weak self] in self?.interrupted() }
    }

    /// Microseconds since this run was created.
    var elapsed: Int64 { MainLoop.now - begin }

    /// How long each phase took, if the broker has reported it.
    var trace: RemoteActivityContinueTrace? { call.trace }

    /// Calls `Continue` and waits for the outcome.
    func outcome(of options: [String: Value]) async throws -> ContinueCall.Outcome {
        phase("requested")
        defer { progress.end() }
        do {
            let outcome = try await call.outcome(of: options)
            phase(outcome.isSuccess ? "finished" : "failed")
            return outcome
        } catch let error as DBusError {
            return ContinueCall.Outcome(
                applicationID: "", errorName: error.name.text, message: CommandFailure(error).message)
        } catch ContinueCall.Failure.brokerEnded {
            throw CommandFailure("The broker ended before the activity was continued. Try again.")
        }
    }

    private func interrupted() {
        // When it happens a second time, the user does not want to wait for a broker that does not answer.
        if isInterrupted {
            progress.end()
            exit(128 + SIGINT)
        }
        isInterrupted = true
        if isAccepted { MainLoop.start { [self] in await cancel() } }
    }

    /// Cancels it, which brings the outcome, unless it is too late.
    private func cancel() async {
        do {
            try await call.cancel()
        } catch {
            progress.end()
            Output.note("It was not cancelled: \(CommandFailure(DBusError.converting(error)).message)")
        }
    }

    private func phase(_ name: String) {
        if isVerbose { Output.note("\(Age.milliseconds(elapsed)): \(name)") }
    }

    private func accepted() {
        phase("accepted")
        if !isVerbose { progress.update(offer.progress) }
        isAccepted = true
        if isInterrupted { MainLoop.start { [self] in await cancel() } }
    }

    private func changed(_ before: RemoteOffer, _ offer: RemoteOffer) {
        if !isVerbose {
            if offer.progress != before.progress { progress.update(offer.progress) }
            return
        }
        if offer.state != before.state { phase("state: \(offer.state.shown)") }
        if let progress = offer.progress, progress != before.progress {
            phase("progress: \(Int(progress * 100)) %")
        }
    }
}

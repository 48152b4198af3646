// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff continue`: continues an activity here and waits for the outcome.
struct ContinueVerb: Verb {
    static let name = "continue"
    static let arguments: String? = "[ID]"
    static let summary = tr("Continue an activity here: the only one, or by the beginning of its id")
    static let completion = Completion.offers
    static let completions = ["app": Completion.handlers, "device": Completion.peers]

    private let id: String?
    /// The device of which all that is open can be chosen.
    let device: String?
    private let continuesAll: Bool
    /// Whether nobody is to be asked.
    let isSure: Bool
    private let application: String?
    private let remembers: Bool
    private let isVerbose: Bool

    static func declare(_ options: inout ProgramOptions) {
        options.flag("all", tr("Continue all that is open at a device; asks first"))
        options.text(
            "device", argument: "NAME",
            tr("Continue what is open at this device (default with --all: the one that is connected)"))
        options.flag("yes", tr("Do not ask, for scripts"))
        options.text("app", argument: "ID", tr("The application to continue it with (default: the best one)"))
        options.flag("remember", tr("Continue activities of this type in that application from now on"))
        options.flag("verbose", letter: "v", tr("Report what happens, and how long it takes"))
    }

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        id = try values.arguments(0...1, "continue [ID]").first
        application = values["app"]
        remembers = values.has("remember")
        guard !remembers || application != nil else {
            throw .usage(
                tr("--remember needs --app, which says which application is to be remembered."))
        }
        isVerbose = values.has("verbose")
        (device, continuesAll, isSure) = (values["device"], values.has("all"), values.has("yes"))
        guard continuesAll || !isSure else {
            throw .usage(tr("--yes needs --all, which asks before it continues anything."))
        }
        guard !continuesAll || (id == nil && application == nil && !isVerbose) else {
            throw .usage(tr("--all cannot be combined with an ID, --app, --remember or --verbose."))
        }
    }

    func run(in session: Session) async throws -> Int32 {
        if continuesAll { return try await continueAll(in: session) }
        let broker = try await session.broker()
        let offer = try await offer(of: broker, in: session)
        let run = ContinueRun(broker, offer, isVerbose: isVerbose)
        let outcome = try await run.outcome(of: options(isTraced: isVerbose || session.printsJSON))
        if isVerbose { tell(run.trace) }
        let failure = outcome.failure.map { run.isInterrupted ? $0.interrupted : $0 }
        if session.printsJSON {
            try Output.json(Self.json(outcome, failure, offer, run))
        } else if outcome.isSuccess {
            try Output.line(success(outcome, offer))
            if !outcome.message.isEmpty { Output.note(outcome.message.shown) }
        }
        if let failure { Output.note(offer.words(of: failure)) }
        return failure?.status ?? 0
    }

    @MainLoop
    private func offer(of broker: Daemon, in session: Session) async throws -> RemoteOffer {
        let offers = RemoteOffer.all(in: try await broker.brokerObjects())
        if let device {
            let open = try await OpenActivities.ask(device, broker, in: session)
            if let id { return try open.offers.choose(id, listedBy: OpenActivities.command) }
            guard !open.offers.isEmpty else { throw CommandFailure(open.nothing, .notFound) }
            return try await Self.offer(among: open.offers)
        }
        if let id { return try offers.choose(id) }
        guard !offers.isEmpty else {
            let hidden = try await broker.hiddenOffers()
            throw CommandFailure(try await ListVerb.nothing(broker, hidden), .notFound)
        }
        return try await Self.offer(among: offers)
    }

    /// The only one, or else the one that the user chooses.
    @MainLoop
    private static func offer(among offers: [RemoteOffer]) async throws -> RemoteOffer {
        if let first = offers.first, offers.count == 1 { return first }
        guard Terminal.canAsk else { throw offers.unnamed }
        return try await OfferChoice(among: offers).offer()
    }

    private func options(isTraced: Bool) -> [String: Value] {
        var options: [String: Value] = [:]
        if let application { options["ApplicationId"] = .string(application) }
        if remembers { options["Remember"] = .boolean(true) }
        if isTraced { options["Trace"] = .boolean(true) }
        return options.merging(Self.activation) { $1 }
    }

    /// A launcher may have given a token that lets the application raise its window.
    static var activation: [String: Value] {
        for variable in ["XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID"] {
            guard let token = getenv(variable), token.pointee != 0 else { continue }
            return ["ActivationToken": .string(String(cString: token))]
        }
        return [:]
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
        Output.note(tr("continuation {id}:", ["id": trace.continuation.shown]))
        for (name, microseconds) in Self.phases(of: trace) {
            Output.note("  \(name.shown.padded(to: 10))\(Age.milliseconds(microseconds))")
        }
    }

    /// The outcome for programs.
    @MainLoop
    private static func json(
        _ outcome: ContinueCall.Outcome, _ failure: CommandFailure?, _ offer: RemoteOffer, _ run: ContinueRun
    ) -> JSON {
        let trace = run.trace
        return [
            "activityId": .string(offer.id), "deviceId": .string(offer.deviceID),
            "deviceName": .string(offer.deviceName), "activityType": .string(offer.type),
            "title": .string(offer.title),
            "handler": outcome.applicationID.isEmpty ? .null : .string(outcome.applicationID),
            "continuationId": trace.map { .string($0.continuation) } ?? .null,
            "duration": .integer(run.elapsed),
            "phases": .object(phases(of: trace).map { JSON.Member(name: $0, value: .integer($1)) }),
            "note": outcome.isSuccess && !outcome.message.isEmpty ? .string(outcome.message) : .null,
            "error": failure?.json ?? .null,
        ]
    }

    /// The outcome for people, if it has gone well.
    func success(_ outcome: ContinueCall.Outcome, _ offer: RemoteOffer) -> String {
        var values = ["title": offer.label.shown, "device": offer.device.shown]
        let isPlaced = !outcome.applicationID.isEmpty
        if isPlaced { values["application"] = StandIn.called(outcome.applicationID) }
        if let wanted = application ?? offer.handlers.first, isPlaced, wanted != outcome.applicationID {
            values["wanted"] = StandIn.called(wanted)
            return tr(
                "Opened the document of “{title}” of “{device}” in {application}: {wanted} did not take the activity.",
                values)
        }
        // These are handed to whatever opens pages and documents.
        let isOpened = [ActivityType.browsingWeb.description, PublishVerb.documentType].contains(offer.type)
        return switch (isOpened, isPlaced) {
        case (true, true): tr("Opened “{title}” of “{device}” in {application}.", values)
        case (true, false): tr("Opened “{title}” of “{device}”.", values)
        case (false, true): tr("Continued “{title}” of “{device}” in {application}.", values)
        case (false, false): tr("Continued “{title}” of “{device}”.", values)
        }
    }
}

extension RemoteOffer {
    /// That it was not continued, and why, for people.
    func words(of failure: CommandFailure) -> String {
        // The words may be those of another device, or of an application.
        tr(
            "“{title}” was not continued: “{reason}”",
            ["title": label.shown, "reason": ChosenText(message: failure.message).shown])
    }
}

extension ContinueCall.Outcome {
    /// Why it was not continued, in the words of whoever said so; nil if it was.
    var failure: CommandFailure? {
        isSuccess ? nil : CommandFailure(message.isEmpty ? errorName : message, errorName: errorName)
    }
}

/// One call of `Continue`, and what the user sees of it.
@MainLoop
private final class ContinueRun {
    private let call: ContinueCall
    private let isVerbose: Bool
    private let begin = MainLoop.now
    private let progress = ProgressLine()
    private let offer: RemoteOffer
    private let interruption: Interruption

    init(_ broker: Daemon, _ offer: RemoteOffer, isVerbose: Bool) {
        let call = ContinueCall(broker, offer)
        self.call = call
        self.offer = offer
        self.isVerbose = isVerbose
        interruption = Interruption(progress) { try await call.cancel() }
        call.onAccepted = { [weak self] in self?.accepted() }
        call.onChange = { [weak self] in self?.changed($0, $1) }
    }

    /// Whether the user has wanted it to end, with the signal of a terminal.
    var isInterrupted: Bool { interruption.hasCome }

    /// Microseconds since this run was created.
    var elapsed: Int64 { MainLoop.now - begin }

    /// How long each phase took, if the broker has reported it.
    var trace: RemoteActivityContinueTrace? { call.trace }

    /// Calls `Continue` and waits for the outcome.
    func outcome(of options: [String: Value]) async throws -> ContinueCall.Outcome {
        phase(tr("requested"))
        defer { progress.end() }
        do {
            let outcome = try await call.outcome(of: options)
            phase(outcome.isSuccess ? tr("finished") : tr("failed"))
            return outcome
        } catch let error as DBusError {
            return ContinueCall.Outcome(
                applicationID: "", errorName: error.name.text, message: CommandFailure(error).message)
        } catch ContinueCall.Failure.brokerEnded {
            throw CommandFailure(
                tr("The broker ended before the activity was continued. Try again."), .notRunning)
        }
    }

    private func phase(_ name: String) {
        if isVerbose { Output.note("\(Age.milliseconds(elapsed)): \(name)") }
    }

    private func accepted() {
        phase(tr("accepted"))
        if !isVerbose { progress.update(offer.progress) }
        interruption.accepted()
    }

    private func changed(_ before: RemoteOffer, _ offer: RemoteOffer) {
        if !isVerbose {
            if offer.progress != before.progress { progress.update(offer.progress) }
            return
        }
        if offer.state != before.state { phase(tr("state: {state}", ["state": offer.state.shown])) }
        if let progress = offer.progress, progress != before.progress {
            phase(tr("progress: {percentage} %", ["percentage": "\(Int(progress * 100))"]))
        }
    }
}

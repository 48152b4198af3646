// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// `handoff publish`: makes an activity current for as long as the command runs.
struct PublishVerb: Verb {
    static let name = "publish"
    static let arguments: String? = "[FILE]"
    static let completion = Completion.files
    static let summary = tr(
        "Make an activity current, so that other devices can continue it, until interrupted")
    static let jsonSummary = tr("Print JSON, one object a line")

    private let declaration: ClientDeclaration
    private let type: String
    private let properties: [String: Value]
    private let stream: PublishedStream?
    private let script: ScriptOptions

    static func declare(_ options: inout ProgramOptions) {
        let need = tr("required without --document and --web")
        ClientDeclaration.declare(&options, need: need)
        options.text(
            "type", argument: "TYPE",
            tr("The activity's type, e.g. com.example.notes.edit ({need})", ["need": need]))
        options.text(
            "title", argument: "TITLE",
            tr("Its title (default: the name of the document, or the page's address; {need})", ["need": need])
        )
        options.text(
            "document", argument: "FILE", tr("The file to continue; the other device gets a file of its own"))
        options.text("web", argument: "URL", tr("The web page to continue"))
        options.text(
            "webpage", argument: "URL",
            tr("A web page for devices where no application continues the activity"))
        options.texts(
            "user-info", argument: "KEY=STRING",
            tr("An entry of its state, or KEY:=VALUE with a value in GVariant text format; may be repeated"))
        options.text(
            "stream", argument: "FILE",
            tr("Send this file through each stream that is opened; “-” is standard input, sent once"))
        ScriptOptions.declare(&options)
    }

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        // Whoever has a file to continue names it, before they have read of the option.
        let most = values["document"] == nil ? 1 : 0
        let file = try values.arguments(0...most, "publish [OPTION…] [FILE]").first
        script = try ScriptOptions(values)
        let document = try (file ?? values["document"]).map { (path) throws(CommandFailure) in
            try PublishedDocument(ProgramArguments.bytes(of: path))
        }
        let subject = try Self.subject(values, document)
        if subject == nil {
            try values.require(
                ["app-id": "ID", "type": "TYPE", "title": "TITLE"],
                otherwise: tr("Give them, or a --document or page (--web) that needs none of them."))
        }
        type = values["type"] ?? subject?.type ?? ""
        declaration = ClientDeclaration(values, types: [type], receives: false, usual: Self.usualApplication)
        var properties: [String: Value] = [:]
        properties["Title"] = .string(values["title"] ?? subject?.title ?? "")
        if let document { properties["DocumentURL"] = .string(document.url) }
        for option in ["web", "webpage"] {
            guard let url = values[option] else { continue }
            do {
                _ = try ActivityURL.checkWeb(url, "--\(option)")
            } catch {
                throw CommandFailure(error.dbusError)
            }
            properties["WebpageURL"] = .string(url)
        }
        var userInfo = try UserInfoArgument.userInfo(values.all("user-info"))
        if let path = values["stream"] {
            let stream = try PublishedStream(path)
            self.stream = stream
            userInfo.merge(stream.userInfo) { given, _ in given }
            properties["SupportsContinuationStreams"] = .boolean(true)
        } else {
            stream = nil
        }
        if !userInfo.isEmpty { properties["UserInfo"] = .properties(userInfo) }
        self.properties = properties
    }

    /// The id of who publishes a document or a page, unless another is given.
    private static let usualApplication = "org.example.Handoff.Command"
    /// The type of an activity that is nothing but a document.
    static let documentType = "org.example.Handoff.Document"

    /// Type and title of what the document or the page alone stands for; nil if there is neither.
    private static func subject(
        _ values: ProgramOptions.Values, _ document: PublishedDocument?
    ) throws(CommandFailure) -> (type: String, title: String)? {
        if values["web"] != nil, values["webpage"] != nil {
            throw .usage(
                tr("--web and --webpage name the same thing, the page of the activity. Give one of them."))
        }
        if let document { return (documentType, document.name) }
        return values["web"].map { (ActivityType.browsingWeb.description, $0) }
    }

    func run(in session: Session) async throws -> Int32 {
        let script = PublishingScript(script, type: type, properties, adding: stream?.userInfo ?? [:])
        let publisher = Publisher(stream, script)
        let application = try await StandingApplication(session, declaration, publisher)
        let client = application.client
        publisher.client = client
        publisher.printsJSON = session.printsJSON
        client.create(Publisher.activity, type: type, properties: properties)
        client.becomeCurrent(Publisher.activity)
        MainLoop.start { await publisher.readLines() }
        try await application.stay {}
        // The broker does so too when this connection ends, but only after that.
        client.invalidate(Publisher.activity)
        await client.settle(within: .seconds(5))
        await publisher.awaitBreak()
        await script.finish(publisher.events.interruption)
        if let failure = publisher.failure ?? script.failure { throw failure }
        return 0
    }
}

/// What the broker calls while an activity is published.
@MainLoop
private final class Publisher: StandingDelegate {
    /// The one activity.
    static let activity = ActivityKey(1)

    /// How long a stream may take to break once its activity has gone, and how long the news that the
    /// activity was continued may take to arrive.
    private static let patience = Duration.seconds(3)

    let events = StandingEvents()
    /// What registers this program.
    weak var client: HandoffClient?
    /// Whether what is printed is for programs.
    var printsJSON = false
    /// Where the present broker has the activity.
    private var path: ObjectPath?
    /// Why it failed.
    private(set) var failure: CommandFailure?
    /// Whether what can be sent only once has been sent, or is being sent.
    private(set) var isSpent = false
    private let stream: PublishedStream?
    private let script: PublishingScript
    /// Comes once a broker has made the activity current.
    private let isPublished = Awaited<Void>()
    /// The streams that must not appear to end in order.
    private var unfinished: [(sending: StreamSending, task: Task<Void, Never>)] = []
    private var wasContinued = false
    private var timer: LoopSource?

    init(_ stream: PublishedStream?, _ script: PublishingScript) {
        self.stream = stream
        self.script = script
    }

    func brokerEnded(isReplaced: Bool) {
        forgetBroker()
        events.happened(.brokerEnded(isReplaced: isReplaced))
    }

    func registrationEnded(_ reason: String) {
        forgetBroker()
        events.happened(.registrationEnded(reason))
    }

    private func forgetBroker() {
        path = nil
        // There is nothing more to hand over, so a new broker need not be told.
        if isSpent { client?.invalidate(Self.activity) }
    }

    func created(_ key: ActivityKey, at path: ObjectPath) {
        self.path = path
        MainLoop.start { [self] in
            // Whoever reads the id may take it that the activity is current.
            await client?.settle(within: Connection.defaultTimeout)
            guard self.path == path else { return }
            do { try tellPublished(path) } catch { events.happened(.failed(error)) }
            isPublished.come(())
        }
    }

    func refused(_ key: ActivityKey, _ error: DBusError, restored: [String: Value?]) {
        // Without what was refused, the activity is there.
        if !restored.isEmpty { return script.refused(error, restored: restored) }
        path = nil
        events.happened(.failed(error))
    }

    func wasContinued(_ key: ActivityKey, on device: ClientDevice) throws {
        try tellContinued(on: device)
        wasContinued = true
        script.wasContinued(on: device)
        if timer != nil { events.end() }
    }

    // MARK: The script

    /// Sets what standard input says; the command ends when that does, but not before the activity was there.
    func readLines() async {
        do {
            guard try await script.readLines({ client?.update(Self.activity, $0) }) else { return }
            _ = await isPublished.value(within: nil)
            await client?.settle(within: Connection.defaultTimeout)
            events.end()
        } catch {
            events.happened(.failed(error))
        }
    }

    func willSave(_ key: ActivityKey) async throws -> [String: Value] { try await script.save() }

    // MARK: Streams

    func didReceiveStream(
        _ key: ActivityKey, _ end: consuming FileDescriptor, _ call: MethodCall
    ) throws {
        guard let stream else {
            throw DBusError.unknownMethod(tr("“handoff publish” was given no --stream."))
        }
        guard !isSpent else {
            throw HandoffFailure(
                .applicationFailed, tr("Standard input is sent only once, and was sent before."))
        }
        let source = try stream.open()
        isSpent = stream.isOnce
        let sending = StreamSending(source, end, size: stream.size)
        call.afterReply { [self] in
            let task = MainLoop.start { [self] in await send(sending) }
            unfinished.append((sending, task))
        }
    }

    private func send(_ sending: StreamSending) async {
        let outcome = await sending.run { events.isEnding }
        if case .cutShort(let failure) = outcome { return fail(failure) }
        unfinished.removeAll { $0.sending === sending }
        switch outcome {
        case .complete, .cutShort: if isSpent { finish() }
        case .refused(let failure): if isSpent { fail(failure) } else { Output.note(failure.message) }
        }
    }

    private func fail(_ failure: CommandFailure) {
        self.failure = self.failure ?? failure
        events.end()
    }

    /// Ends the command as soon as it is known that the activity was continued, or once that news is overdue.
    private func finish() {
        if wasContinued {
            events.end()
            return
        }
        timer = .timer(after: Self.patience) { [weak self] in self?.events.end() }
    }

    /// Waits, once the activity is gone, until the streams that were not sent completely have broken:
    /// otherwise they would end in order together with this program.
    func awaitBreak() async {
        guard !unfinished.isEmpty else { return }
        let left = unfinished
        let breaks = Awaited<Void>()
        MainLoop.start {
            for (sending, task) in left {
                await task.value
                _ = await sending.awaitEnd()
            }
            breaks.come(())
        }
        let isOver = await breaks.value(within: Self.patience) != nil
        if isOver, unfinished.isEmpty { return }
        let told = tr("Interrupted before everything was sent. The other side is told.")
        let untold = tr("Interrupted before everything was sent, and the other side may take it for the end.")
        failure = isOver ? failure ?? CommandFailure(told) : CommandFailure(untold)
    }

    // MARK: What is printed

    private func tellPublished(_ path: ObjectPath) throws(CommandFailure) {
        let id = String(path.lastElement)
        guard printsJSON else { return try Output.line(id) }
        try Output.json(["event": "published", "activityId": .string(id)])
    }

    private func tellContinued(on device: ClientDevice) throws(CommandFailure) {
        guard printsJSON else {
            return try Output.line(
                tr(
                    "continued on device {id}, which calls itself “{device}”",
                    ["id": device.id.shown, "device": ChosenText(name: device.name).shown]))
        }
        try Output.json([
            "event": "continued", "activityId": path.map { .string(String($0.lastElement)) } ?? .null,
            "deviceId": .string(device.id), "deviceName": .string(device.name),
        ])
    }

    // MARK: Activities of others

    func continueActivity(
        _ key: ContinuationKey, _ activity: [String: Value], _ context: [String: Value], _ call: MethodCall
    ) async throws -> Bool {
        throw HandoffFailure(
            .notSupported,
            tr("“handoff publish” only publishes. Run “handoff receive” to continue activities."))
    }
}

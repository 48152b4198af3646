// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffCore
internal import MainLoop
internal import Platform

/// `handoff receive`: acts as an application that prints the activities that it is handed.
struct ReceiveVerb: Verb {
    static let name = "receive"
    static let summary = tr("Receive activities of the given types, and print each as one line of JSON")
    static let jsonSummary = tr("Print failures as JSON too; activities always are")

    private let declaration: ClientDeclaration
    private let count: Int?
    private let isStream: Bool
    private let command: String?

    static func declare(_ options: inout ProgramOptions) {
        ClientDeclaration.declare(&options, need: tr("required"))
        options.texts(
            "type", argument: "TYPE", tr("A type of activity to receive; may be repeated (required)"))
        options.flag("once", tr("End after the first activity"))
        options.text("count", argument: "N", tr("End after N activities"))
        options.flag(
            "stream",
            tr(
                "Write the activity's stream to standard output, and its line of JSON to standard error; end after one"
                    + " activity unless --count is given"))
        options.text(
            "run", argument: "COMMAND",
            tr(
                "Run this with the line of JSON on its standard input instead of printing it; if it fails, the activity"
                    + " was not continued"))
    }

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        _ = try values.arguments(0...0, "receive [OPTION…]")
        try values.require(["app-id": "ID", "type": "TYPE"])
        declaration = ClientDeclaration(values, types: values.all("type"), receives: true)
        isStream = values.has("stream")
        command = values["run"]
        guard command?.isEmpty != true else {
            throw .usage(tr("--{option} has no command. Give one, or leave it out.", ["option": "run"]))
        }
        if isStream { try Self.checkOutput() }
        guard !isStream || command == nil else {
            throw .usage(tr("--run and --stream cannot be combined. Give one of them."))
        }
        if let text = values["count"] {
            guard let number = Int(text), number > 0 else {
                throw .usage(
                    tr(
                        "--count “{text}” is not a number of activities: give 1 or more.",
                        ["text": text.shown]))
            }
            count = number
        } else {
            count = values.has("once") || isStream ? 1 : nil
        }
    }

    private static func checkOutput() throws(CommandFailure) {
        guard !StandardDescriptors.closed.contains(STDOUT_FILENO) else {
            throw .usage(tr("--stream: standard output is closed. Redirect it."))
        }
        // Bytes from elsewhere could steer the terminal.
        guard isatty(STDOUT_FILENO) == 0 else {
            throw .usage(
                tr("--stream: standard output is a terminal. Redirect it to a file or another command."))
        }
    }

    var streamsBytes: Bool { isStream }

    func run(in session: Session) async throws -> Int32 {
        let receiver = Receiver(count: count, isStream: isStream, command: command)
        let application = try await StandingApplication(session, declaration, receiver)
        receiver.client = application.client
        try await application.stay {
            Output.note(
                tr(
                    "Waiting for activities as {application}.",
                    ["application": declaration.applicationID.shown]))
        }
        await receiver.commands?.end()
        if let failure = receiver.failure ?? receiver.interruption { throw failure }
        return 0
    }
}

/// What the broker calls when it hands over activities.
@MainLoop
private final class Receiver: StandingDelegate {
    let events = StandingEvents()
    /// What registers this program.
    weak var client: HandoffClient?
    /// Why it ended.
    private(set) var failure: CommandFailure?
    private let isStream: Bool
    private var left: Int?
    private var reading: StreamReading?
    private var isReading = false
    /// What is run with each activity, if that is wanted.
    let commands: ReceivingCommands?

    init(count: Int?, isStream: Bool, command: String?) {
        left = count
        commands = command.map { ReceivingCommands($0) }
        self.isStream = isStream
    }

    func willContinue(
        _ key: ContinuationKey, type: String, from device: ClientDevice
    ) async throws -> Bool { true }

    func continueActivity(
        _ key: ContinuationKey, _ activity: [String: Value], _ context: [String: Value], _ call: MethodCall
    ) async throws -> Bool {
        if left == 0 { return false }
        let received = ReceivedActivity(activity, context)
        let line = received.json
        if let path = received.documentPath {
            Output.note(tr("The document is “{file}”.", ["file": path.shown]))
        }
        if isStream { return try await readStream(key, of: activity, line, call) }
        if let commands { return try await run(commands, key, activity, context) }
        try Output.json(line)
        // This happens before the reply, because another activity may follow at once.
        left = left.map { $0 - 1 }
        call.afterReply { [self] in
            if activity.flag("SupportsContinuationStreams") { client?.release(key) }
            if left == 0 { events.end() }
        }
        return true
    }

    private func run(
        _ commands: ReceivingCommands, _ key: ContinuationKey, _ activity: [String: Value],
        _ context: [String: Value]
    ) async throws -> Bool {
        // This happens before it is known what comes of it, because another activity may follow at once.
        left = left.map { $0 - 1 }
        do {
            try await commands.run(activity, context)
        } catch {
            left = left.map { $0 + 1 }
            throw error
        }
        if activity.flag("SupportsContinuationStreams") { client?.release(key) }
        if left == 0 {
            MainLoop.start { [self] in
                await commands.idle()
                events.end()
            }
        }
        return true
    }

    // MARK: Streams

    /// Why what was written is not complete, if a stream is being read.
    var interruption: CommandFailure? {
        reading.map {
            CommandFailure(tr("Interrupted after {count} bytes of the stream.", ["count": "\($0.count)"]))
        }
    }

    private func readStream(
        _ key: ContinuationKey, of activity: [String: Value], _ line: JSON, _ call: MethodCall
    ) async throws -> Bool {
        guard !isReading else {
            throw HandoffFailure(
                .applicationFailed, tr("Another stream is being received. Try again when it has ended."))
        }
        guard let client else { return false }
        isReading = true
        do {
            let reading = StreamReading(
                try await client.openStream(key), activity["UserInfo"]?.properties ?? [:])
            self.reading = reading
            Output.jsonNote(line)
            call.afterReply { [self] in
                MainLoop.start { [self] in
                    failure = await reading.run()
                    isReading = false
                    self.reading = nil
                    client.release(key)
                    left = left.map { $0 - 1 }
                    if failure != nil || left == 0 { events.end() }
                }
            }
            return true
        } catch {
            isReading = false
            throw error
        }
    }

    func didFailToContinue(_ key: ContinuationKey?, type: String, _ error: DBusError) throws {
        let line: JSON = [
            "event": "failed", "activityType": .string(type),
            "error": CommandFailure(error.message, errorName: error.name.text).json,
        ]
        if isStream || commands != nil { Output.jsonNote(line) } else { try Output.json(line) }
    }
}

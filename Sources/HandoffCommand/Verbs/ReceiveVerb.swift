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
    static let summary = "Receive activities of the given types, and print each as one line of JSON"

    private let declaration: ClientDeclaration
    private let count: Int?
    private let isStream: Bool

    static func declare(_ options: inout ProgramOptions) {
        ClientDeclaration.declare(&options)
        options.texts("type", argument: "TYPE", "A type of activity to receive; may be repeated")
        options.flag("once", "End after the first activity")
        options.text("count", argument: "N", "End after N activities")
        options.flag(
            "stream",
            "Write the activity's stream to standard output, and its line of JSON to standard error; end after one"
                + " activity unless --count is given")
    }

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        _ = try values.arguments(0...0, "receive [OPTION…]")
        guard !values.all("type").isEmpty else { throw .usage("--type TYPE is missing. Try --help.") }
        declaration = try ClientDeclaration(values, types: values.all("type"), receives: true)
        isStream = values.has("stream")
        if isStream { try Self.checkOutput() }
        if let text = values["count"] {
            guard let number = Int(text), number > 0 else {
                throw .usage("--count \(text.quoted) is not a number of activities: give 1 or more.")
            }
            count = number
        } else {
            count = values.has("once") || isStream ? 1 : nil
        }
    }

    private static func checkOutput() throws(CommandFailure) {
        guard !StandardDescriptors.closed.contains(STDOUT_FILENO) else {
            throw .usage("--stream: standard output is closed. Redirect it.")
        }
        // Bytes from elsewhere could steer the terminal.
        guard isatty(STDOUT_FILENO) == 0 else {
            throw .usage("--stream: standard output is a terminal. Redirect it to a file or another command.")
        }
    }

    func run(in session: Session) async throws -> Int32 {
        let receiver = Receiver(count: count, isStream: isStream)
        let application = try await StandingApplication(session, declaration, receiver)
        receiver.client = application.client
        try await application.stay {
            Output.note("Waiting for activities as \(declaration.applicationID.shown).")
        }
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

    init(count: Int?, isStream: Bool) {
        left = count
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
        let line = received.json.text
        if let path = received.documentPath { Output.note("The document is \(path.quoted).") }
        if isStream { return try await readStream(key, of: activity, line, call) }
        try Output.line(line)
        // This happens before the reply, because another activity may follow at once.
        left = left.map { $0 - 1 }
        call.afterReply { [self] in
            if activity.flag("SupportsContinuationStreams") { client?.release(key) }
            if left == 0 { events.end() }
        }
        return true
    }

    // MARK: Streams

    /// Why what was written is not complete, if a stream is being read.
    var interruption: CommandFailure? {
        reading.map { CommandFailure("Interrupted after \($0.count) bytes of the stream.") }
    }

    private func readStream(
        _ key: ContinuationKey, of activity: [String: Value], _ line: String, _ call: MethodCall
    ) async throws -> Bool {
        guard !isReading else {
            throw HandoffFailure(
                .applicationFailed, "Another stream is being received. Try again when it has ended.")
        }
        guard let client else { return false }
        isReading = true
        do {
            let reading = StreamReading(
                try await client.openStream(key), activity["UserInfo"]?.properties ?? [:])
            self.reading = reading
            Output.error(line + "\n")
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
            "event": "failed", "type": .string(type), "errorName": .string(error.name.text),
            "message": .string(error.message),
        ]
        if isStream { Output.error(line.text + "\n") } else { try Output.line(line.text) }
    }
}

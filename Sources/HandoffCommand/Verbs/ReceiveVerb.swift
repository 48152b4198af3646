// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop

/// `handoff receive`: is an application that prints the activities it is handed.
struct ReceiveVerb: Verb {
    static let name = "receive"
    static let summary = "Continue activities of some types by printing them, one JSON object a line"

    private let identity: StandingApplication.Identity
    private let count: Int?

    static func declare(_ options: inout ProgramOptions) {
        StandingApplication.Identity.declare(&options)
        options.texts("type", argument: "TYPE", "A type of activities to be handed; may be repeated")
        options.flag("once", "End after the first activity")
        options.text("count", argument: "N", "End after N activities")
    }

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        _ = try values.arguments(0...0, "receive [OPTION…]")
        guard !values.all("type").isEmpty else { throw .usage("--type TYPE is missing. Try --help.") }
        identity = try StandingApplication.Identity(values, types: values.all("type"))
        if let text = values["count"] {
            guard let number = Int(text), number > 0 else {
                throw .usage("--count \(text.quoted) is not a number of activities: give 1 or more.")
            }
            count = number
        } else {
            count = values.has("once") ? 1 : nil
        }
    }

    func run(in session: Session) async throws -> Int32 {
        let receiver = Receiver(count: count)
        let application = try await StandingApplication(session, identity, [ApplicationBinding(receiver)])
        receiver.onDone = { application.events.end() }
        _ = try await application.stay { broker in
            receiver.broker = broker
            Output.note("Waiting for activities as \(identity.applicationID.shown).")
        }
        return 0
    }
}

/// What the broker calls when it hands over activities.
@MainLoop
private final class Receiver: ApplicationServer {
    /// Called when as many activities as wanted are here.
    var onDone: (@MainLoop () -> Void)?
    /// The broker that it is registered with.
    var broker: Session.Daemon?
    private var left: Int?

    init(count: Int?) { left = count }

    func willContinueActivity(
        activityType: String, context: [String: Value], _ call: MethodCall
    ) async throws -> Bool { true }

    func continueActivity(
        activity: [String: Value], context: [String: Value], _ call: MethodCall
    ) async throws -> Bool {
        if left == 0 { return false }
        try Output.line(ReceivedActivity(activity, context).json.text)
        left = left.map { $0 - 1 }
        call.afterReply { [weak self] in
            if activity.flag("SupportsContinuationStreams") { self?.release(context) }
            if self?.left == 0 { self?.onDone?() }
        }
        return true
    }

    /// It opens no streams.
    private func release(_ context: [String: Value]) {
        guard let broker, case .objectPath(let path)? = context["Continuation"] else { return }
        MainLoop.start { try? await ContinuationProxy(broker.object(path)).release() }
    }

    func didFailToContinueActivity(
        activityType: String, errorName: String, errorMessage: String, _ call: MethodCall
    ) async throws {
        let line: JSON = [
            "event": "failed", "type": .string(activityType), "errorName": .string(errorName),
            "message": .string(errorMessage),
        ]
        try Output.line(line.text)
    }
}

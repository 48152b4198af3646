// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// `handoff publish`: makes an activity current for as long as the command runs.
struct PublishVerb: Verb {
    static let name = "publish"
    static let summary = "Make an activity current, so that other devices can continue it, until interrupted"

    private let identity: StandingApplication.Identity
    private let type: String
    private let properties: [String: Value]

    static func declare(_ options: inout ProgramOptions) {
        StandingApplication.Identity.declare(&options)
        options.text("type", argument: "TYPE", "The activity's type, e.g. com.example.notes.edit")
        options.text("title", argument: "TITLE", "Its title, for people")
        options.text("webpage", argument: "URL", "A web page to go on with where no application continues it")
        options.texts(
            "user-info", argument: "KEY=STRING",
            "An entry of its state, or KEY:=VALUE with a value in GVariant text format; may be repeated")
    }

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        _ = try values.arguments(0...0, "publish [OPTION…]")
        type = try values.required("type", "TYPE")
        identity = try StandingApplication.Identity(values, types: [type])
        var properties: [String: Value] = ["Title": .string(try values.required("title", "TITLE"))]
        if let url = values["webpage"] { properties["WebpageURL"] = .string(url) }
        let userInfo = try UserInfoArgument.userInfo(values.all("user-info"))
        if !userInfo.isEmpty { properties["UserInfo"] = .properties(userInfo) }
        self.properties = properties
    }

    func run(in session: Session) async throws -> Int32 {
        let publisher = Publisher()
        let application = try await StandingApplication(
            session, identity, [ApplicationBinding(publisher), ActivityDelegateBinding(publisher)])
        var activity: ObjectPath?
        let broker = try await application.stay { broker in
            let path = try await broker.manager.createActivity(activityType: type, properties: properties)
            activity = path
            try await ActivityProxy(broker.object(path)).becomeCurrent()
            try Output.line(String(path.lastElement))
        }
        if let broker, let activity {
            // The broker does it too when this connection ends, but then after that.
            try? await ActivityProxy(broker.object(activity)).invalidate(timeout: .seconds(5))
        }
        return 0
    }
}

/// What the broker calls while an activity is published.
@MainLoop
private final class Publisher: ApplicationServer, ActivityDelegateServer {
    func willSave(activity: ObjectPath, _ call: MethodCall) async throws -> [String: Value] { [:] }

    func wasContinued(activity: ObjectPath, device: [String: Value], _ call: MethodCall) async throws {
        let (name, id) = (device.text("DeviceName"), device.text("DeviceId"))
        try Output.line("continued on \(name.quoted) (\(id.shown))")
    }

    func didReceiveStream(
        activity: ObjectPath, stream: consuming FileDescriptor, _ call: MethodCall
    ) async throws {
        throw DBusError.unknownMethod("“handoff publish” takes no streams.")
    }

    func willContinueActivity(
        activityType: String, context: [String: Value], _ call: MethodCall
    ) async throws -> Bool { false }

    func continueActivity(
        activity: [String: Value], context: [String: Value], _ call: MethodCall
    ) async throws -> Bool {
        throw HandoffFailure(
            .notSupported, "“handoff publish” only publishes. Run “handoff receive” to continue activities.")
    }

    func didFailToContinueActivity(
        activityType: String, errorName: String, errorMessage: String, _ call: MethodCall
    ) async throws {}
}

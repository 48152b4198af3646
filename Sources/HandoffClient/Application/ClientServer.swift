// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// What a client serves for the broker: the calls, and nothing of their consequences.
@MainLoop
final class ClientServer: ApplicationServer, ActivityDelegateServer {
    // The connection, which the client has, keeps this alive.
    private weak var client: HandoffClient?

    init(_ client: HandoffClient) { self.client = client }

    private func delegate() throws -> (HandoffClient, any HandoffClientDelegate) {
        guard let client, let delegate = client.delegate else {
            throw DBusError.unknownObject("This application is about to end.")
        }
        return (client, delegate)
    }

    // MARK: Activities

    private func activity(_ path: ObjectPath) throws -> (
        HandoffClient, any HandoffClientDelegate, ActivityKey
    ) {
        let (client, delegate) = try delegate()
        guard let key = client.activities.key(at: path) else {
            throw DBusError.unknownObject("\(path) is not an activity of this application, or no longer.")
        }
        return (client, delegate, key)
    }

    func willSave(activity path: ObjectPath, _ call: MethodCall) async throws -> [String: Value] {
        let (client, delegate, key) = try activity(path)
        let begin = MainLoop.now
        let answer = try await delegate.willSave(key)
        // One entry is no property, and concerns the broker alone.
        let changes = answer.filter { $0.key != "Passing" }
        guard let properties = client.properties(of: key) else { return answer }
        // The broker refuses all of it without a word to the application.
        var state = ActivityState()
        do throws(HandoffFailure) {
            try state.apply(properties.merging(changes) { _, new in new })
        } catch {
            // None of it was taken.
            delegate.refused(
                key, error.dbusError,
                restored: Dictionary(uniqueKeysWithValues: changes.keys.map { ($0, properties[$0]) }))
            throw error
        }
        let isLate = .microseconds(MainLoop.now - begin) > Deadline.willSave
        if isLate || client.activities.key(at: path) != key {
            // Nobody waits for the answer any more. It is the latest state nevertheless.
            client.update(key, changes)
        } else {
            client.activities.answeredSave(key, changes)
        }
        return answer
    }

    func wasContinued(activity path: ObjectPath, device: [String: Value], _ call: MethodCall) throws {
        let (_, delegate, key) = try activity(path)
        try delegate.wasContinued(key, on: ClientDevice(device))
    }

    func didReceiveStream(
        activity path: ObjectPath, stream: consuming FileDescriptor, _ call: MethodCall
    ) throws {
        let (_, delegate, key) = try activity(path)
        try StreamSocket.check(
            stream, or: .invalidArguments, remedy: "Send one end of socketpair(AF_UNIX, SOCK_STREAM).")
        try delegate.didReceiveStream(key, stream, call)
    }

    // MARK: Activities of others

    private func path(_ context: [String: Value]) throws -> ObjectPath {
        guard case .objectPath(let path)? = context["Continuation"] else {
            throw DBusError.invalidArgs("The context names no Continuation (o).")
        }
        return path
    }

    func willContinueActivity(
        activityType: String, context: [String: Value], _ call: MethodCall
    ) async throws -> Bool {
        let (client, delegate) = try delegate()
        let key = client.continuations.announce(try path(context), type: activityType)
        return try await delegate.willContinue(key, type: activityType, from: ClientDevice(context))
    }

    func continueActivity(
        activity: [String: Value], context: [String: Value], _ call: MethodCall
    ) async throws -> Bool {
        let (client, delegate) = try delegate()
        let key = client.continuations.handOver(try path(context))
        // Without streams, the broker ends it with the answer.
        let isStreaming = activity.flag("SupportsContinuationStreams")
        call.afterReply { if !isStreaming { _ = client.continuations.release(key) } }
        return try await delegate.continueActivity(key, activity, context, call)
    }

    func didFailToContinueActivity(
        activityType: String, errorName: String, errorMessage: String, _ call: MethodCall
    ) throws {
        let (client, delegate) = try delegate()
        let failed = client.continuations.callOff(type: activityType)
        let name = (try? ErrorName(errorName)) ?? .failed
        try delegate.didFailToContinue(failed.key, type: activityType, DBusError(name, errorMessage))
    }
}

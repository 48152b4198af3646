// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// `org.example.Handoff.Continuation`: what the application that is handed an activity may ask.
@MainLoop
final class ContinuationObject: ContinuationServer {
    private let runner: ContinuationRunner
    private unowned let broker: Broker
    let activityType: String
    let deviceId: String
    /// As it was called when the continuation began.
    let deviceName: String
    /// What the origin said when it offered the activity.
    let supportsContinuationStreams: Bool

    init(_ runner: ContinuationRunner, _ broker: Broker) {
        self.runner = runner
        self.broker = broker
        activityType = runner.offeredType.description
        deviceId = runner.device.description
        deviceName = broker.peers.name(of: runner.device)
        supportsContinuationStreams = runner.supportsStreams
    }

    func openStream(_ call: MethodCall) async throws -> FileDescriptor {
        guard runner.supportsStreams else {
            throw HandoffFailure(
                .streamsNotSupported,
                "The activity has no streams. Its application has to set SupportsContinuationStreams first.")
        }
        throw HandoffFailure(
            .notSupported, "This version of Handoff opens no streams. Send the state in UserInfo.")
    }

    func release(_ call: MethodCall) async throws {
        let actions = broker.held.released(runner.id)
        call.afterReply { [weak broker] in broker?.perform(actions) }
    }
}

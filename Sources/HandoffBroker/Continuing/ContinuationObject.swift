// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// `org.example.Handoff.Continuation`: what the application that is handed an activity may ask.
@MainLoop
final class ContinuationObject: ContinuationServer {
    private let runner: ContinuationRunner
    private unowned let broker: Broker
    let activityType: String
    let deviceId: String
    /// What the device was called when the continuation began.
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
        let id = runner.id
        // It counts as open while it is being opened; then the bridge says that it is.
        let relatives = broker.held[id].map { broker.holdings.relatives(of: $0.connection) }
        try broker.held.openStream(id, relatives: relatives ?? [])
        defer { broker.held.streamClosed(id) }
        do {
            // The bridge says in time whether there is one; this is for a bridge that says nothing.
            let stream = try await broker.bridgePeer(runner.device).openStream(
                continuation: id.description, timeout: Deadline.stream * 2)
            guard broker.held[id] != nil else { throw HandoffFailure.unknownContinuation(id) }
            return stream
        } catch {
            let failure = HandoffFailure(routed: error)
            brokerLog.debug("continuation \(id): no stream: \(failure.message)")
            throw failure
        }
    }

    func release(_ call: MethodCall) async throws {
        let actions = broker.held.released(runner.id)
        call.afterReply { [weak broker] in broker?.perform(actions) }
    }
}

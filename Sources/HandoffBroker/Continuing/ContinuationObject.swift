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
    private let owner: ContinuationsHere
    let activityType: String
    let deviceId: String
    /// What the device was called when the continuation began.
    let deviceName: String
    /// What the origin said when it offered the activity.
    let supportsContinuationStreams: Bool

    init(_ runner: ContinuationRunner, _ owner: ContinuationsHere) {
        self.runner = runner
        self.owner = owner
        activityType = runner.offeredType.description
        deviceId = runner.device.description
        deviceName = owner.peers.name(of: runner.device)
        supportsContinuationStreams = runner.supportsStreams
    }

    func openStream(_ call: MethodCall) async throws -> FileDescriptor {
        let id = runner.id
        // It counts as open while it is being opened; then the bridge says that it is.
        try owner.openStream(id)
        defer { owner.streamClosed(id) }
        do {
            // The bridge says in time whether there is one; this is for a bridge that says nothing.
            let stream = try await owner.peers.bridgePeer(runner.device).openStream(
                continuation: id.description, timeout: Deadline.stream * 2)
            guard owner.isHeld(id) else { throw HandoffFailure.unknownContinuation(id) }
            return stream
        } catch {
            let failure = HandoffFailure(routed: error)
            brokerLog.debug("continuation \(id): no stream: \(failure.message)")
            throw failure
        }
    }

    func release(_ call: MethodCall) throws {
        owner.released(runner.id, after: call)
    }
}

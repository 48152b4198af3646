// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
public import HandoffKit

/// A continuation that an application here was told of, or is handed.
@MainActor
final class TestContinuation {
    let id: ContinuationID
    let number: ContinuationNumber
    let type: String
    weak var backend: TestBackend?
    /// Where its activity comes from.
    weak var origin: TestBroker?
    /// The activity there.
    let activity: ActivityID
    var supportsStreams = false
    /// Whether the application was handed the activity, after which nothing can be said to have failed.
    var isDelivered = false
    private(set) var hasEnded = false

    init(
        _ id: ContinuationID, _ number: ContinuationNumber, _ offer: Offer, _ backend: TestBackend,
        _ origin: TestBroker
    ) {
        self.id = id
        self.number = number
        type = offer.type.description
        activity = offer.id
        self.backend = backend
        self.origin = origin
    }

    /// The broker has gone.
    func brokerEnded() {
        fail(
            HandoffFailure(
                .connectionUnavailable, "The broker has ended meanwhile. Continue the activity again."))
    }

    /// The application is told that what was coming does not come, once.
    func fail(_ failure: HandoffFailure) {
        guard !hasEnded else { return }
        hasEnded = true
        if !isDelivered { backend?.receiver?.didFailToContinue(number, type: type, failure) }
    }
}

extension TestBroker {
    /// What the other device offers here; nil for nothing.
    public var offeredByPeer: TestActivityState? {
        guard let peer, isEnabled, peer.isRunning, let offer = peer.activities.offered else { return nil }
        return peer.objects[offer.id].map { peer.state(of: $0) }
    }

    /// The user continues here what the other device offers, in the application that is best for it.
    /// - Throws: what the user would be told: nothing is offered, no application continues it, or what the application
    ///   has thrown.
    public func continueActivity() async throws(HandoffError) {
        do throws(HandoffFailure) {
            try await run(try begin())
        } catch {
            throw HandoffError(error)
        }
        await settle()
    }

    /// Another device, which has no application that is tested, continues the current activity.
    /// - Returns: what it gets.
    @discardableResult
    public func continueElsewhere(on name: String = "Another device") async throws(HandoffError)
        -> TestActivityState
    {
        var generator = SystemRandomNumberGenerator()
        guard isRunning, let offer = activities.offered, let object = objects[offer.id] else {
            throw HandoffError(.offerWithdrawn, "No activity is offered. Make one current.")
        }
        guard await object.saved(for: ContinuationID(using: &generator)) else {
            throw HandoffError(.offerWithdrawn, "The activity has ended meanwhile.")
        }
        let state = state(of: object)
        let device = ContinuationDevice(id: String(repeating: "e", count: 64), name: name)
        object.backend?.receiver?.wasContinued(object.number, on: device)
        await settle()
        return state
    }

    private func begin() throws(HandoffFailure) -> (Offer, TestContinuation) {
        guard isEnabled else { throw .disabled }
        guard isRunning, let peer, peer.isRunning, peer.isEnabled, let offer = peer.activities.offered else {
            throw HandoffFailure(
                .offerWithdrawn, "The other device offers nothing. Make an activity current there.")
        }
        let applications = registry.handlers(for: offer)
        guard let application = applications.first?.id,
            let connection = registry.connection(for: application, continuing: offer),
            let backend = backend(of: connection)
        else {
            throw HandoffFailure(
                .noApplication,
                "No application here continues activities of type \(offer.type) of team \(offer.team).")
        }
        var generator = SystemRandomNumberGenerator()
        let continuation = TestContinuation(
            ContinuationID(using: &generator), newContinuation(), offer, backend, peer)
        continuations[continuation.number] = continuation
        return (offer, continuation)
    }

    private func run(_ began: (offer: Offer, continuation: TestContinuation)) async throws(HandoffFailure) {
        let (offer, continuation) = began
        let (number, peer) = (continuation.number, continuation.origin)
        let receiver = continuation.backend?.receiver
        let origin = peer?.device ?? device
        _ = await TestClock.within(Deadline.willContinue, otherwise: false) {
            await receiver?.willContinue(number, type: continuation.type, from: origin) ?? false
        }
        let payload: [String: Value]
        do throws(HandoffFailure) {
            guard !continuation.hasEnded else { throw Self.brokerEnded }
            payload = try await peer?.fetch(offer, continuation.id) ?? [:]
            guard !continuation.hasEnded else { throw Self.brokerEnded }
        } catch {
            continuation.fail(error)
            continuations[number] = nil
            throw error
        }
        continuation.isDelivered = true
        continuation.supportsStreams = payload["SupportsContinuationStreams"] == .boolean(true)
        let outcome = await TestClock.within(Deadline.continueActivity, otherwise: .failure(Self.timedOut)) {
            await Self.hand(payload, continuation, from: origin)
        }
        if !continuation.supportsStreams { continuations[number] = nil }
        guard try outcome.get() else {
            throw HandoffFailure(.applicationFailed, "The application has not handled the activity.")
        }
        peer?.wasContinued(offer.id, on: device)
    }

    private static func hand(
        _ payload: [String: Value], _ continuation: TestContinuation, from device: ContinuationDevice
    ) async -> Result<Bool, HandoffFailure> {
        do {
            return .success(
                try await continuation.backend?.receiver?.continueActivity(
                    continuation.number, payload, from: device, activationToken: "") ?? false)
        } catch {
            return .failure(HandoffError(error).failure)
        }
    }

    private static var brokerEnded: HandoffFailure {
        HandoffFailure(.connectionUnavailable, "The broker has ended meanwhile. Continue the activity again.")
    }

    private static var timedOut: HandoffFailure {
        HandoffFailure(.applicationTimedOut, "The application has not answered for 30 seconds.")
    }

    // MARK: At the origin

    private func fetch(_ offer: Offer, _ id: ContinuationID) async throws(HandoffFailure) -> [String: Value] {
        guard let object = objects[offer.id], await object.saved(for: id), activities.offered?.id == offer.id
        else {
            throw HandoffFailure(
                .offerWithdrawn, "The activity is no longer offered. Look again at what is offered.")
        }
        return object.payload
    }

    private func wasContinued(_ id: ActivityID, on device: ContinuationDevice) {
        guard let object = objects[id] else { return }
        later { object.backend?.receiver?.wasContinued(object.number, on: device) }
    }

    /// The broker of the other device has ended, and the continuations of what it offered with it.
    func originVanished(_ origin: TestBroker) {
        for continuation in continuations.values where continuation.origin === origin {
            continuation.fail(
                HandoffFailure(.connectionUnavailable, "The other device cannot be reached. Try again later.")
            )
        }
    }

    // MARK: Streams

    func openStream(_ number: ContinuationNumber) throws(HandoffFailure) -> CInt {
        guard let continuation = continuations[number], !continuation.hasEnded else {
            throw HandoffFailure(
                .unknownObject, "There is no such continuation any more. Continue the activity again.")
        }
        guard continuation.supportsStreams else { throw .noStreams(continuation.id) }
        streams.removeAll { $0.hasEnded }
        guard streams.count < Quota.streams else {
            throw .tooMany(
                "open streams of one connection", limit: Quota.streams,
                advice: "Close those that are no longer needed.")
        }
        guard let peer, peer === continuation.origin, let object = peer.objects[continuation.activity] else {
            throw HandoffFailure(.connectionUnavailable, "The other device cannot be reached.")
        }
        let (stream, here, there) = try TestStream.make()
        streams.append(stream)
        peer.streams.append(stream)
        peer.later { object.backend?.receiver?.didReceiveStream(object.number, there) }
        return here
    }
}

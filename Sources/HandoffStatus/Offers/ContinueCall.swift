// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffClient
package import HandoffInterfaces
package import MainLoop

/// One call of `Continue` for an offer, and what comes of it.
@MainLoop
package final class ContinueCall {
    /// How a continuation ended.
    package struct Outcome: Equatable, Sendable {
        /// The application that continued it, or was supposed to; empty if none had been chosen.
        package let applicationID: String
        /// Empty on success.
        package let errorName: String
        /// What went wrong, for people to read.
        package let message: String

        /// Whether the activity was continued.
        package var isSuccess: Bool { errorName.isEmpty }

        /// An outcome.
        package init(applicationID: String, errorName: String, message: String) {
            self.applicationID = applicationID
            self.errorName = errorName
            self.message = message
        }
    }

    /// Why there is no outcome.
    package enum Failure: Error, Equatable {
        /// The broker, or the bus, has ended before.
        case brokerEnded
    }

    private enum Event: Sendable {
        case finished(RemoteActivityContinueFinished)
        case brokerEnded
    }

    /// Called when the broker has accepted the call.
    package var onAccepted: (@MainLoop () -> Void)?
    /// Called when the offer has changed, with what it was before and what it is now.
    package var onChange: (@MainLoop (RemoteOffer, RemoteOffer) -> Void)?
    /// How long each phase took, if the broker has reported it.
    package private(set) var trace: RemoteActivityContinueTrace?

    private let broker: Daemon
    private var offer: RemoteOffer
    private let events: AsyncStream<Event>
    private let feed: AsyncStream<Event>.Continuation
    private var tokens: [SignalToken] = []
    private var watch: NameWatch?

    /// A call for `offer` of `broker`, which has to have been asked for its offers on this connection.
    package init(_ broker: Daemon, _ offer: RemoteOffer) {
        self.broker = broker
        self.offer = offer
        (events, feed) = AsyncStream.makeStream()
        let connection = broker.bus.connection
        let (feed, name) = (feed, broker.name)
        tokens = [
            connection.onSignal(RemoteActivityProxy.interface, RemoteActivityContinueFinished.member) {
                [weak self] in self?.finished($0)
            },
            connection.onSignal(RemoteActivityProxy.interface, RemoteActivityContinueTrace.member) {
                [weak self] in self?.traced($0)
            },
            connection.onSignal(.properties, "PropertiesChanged") { [weak self] in self?.changed($0) },
            connection.whenClosed { _ in feed.yield(.brokerEnded) },
        ]
        watch = broker.bus.watch(HandoffNames.broker) { if $0 != name { feed.yield(.brokerEnded) } }
    }

    /// Calls `Continue` with `options`, and waits for the outcome, which the broker promises.
    /// - Throws: the error with which the broker answers the call; ``Failure``.
    package func outcome(of options: [String: Value]) async throws -> Outcome {
        try await RemoteActivityProxy(broker.object(offer.path)).`continue`(options: options)
        onAccepted?()
        for await event in events {
            switch event {
            case .brokerEnded: throw Failure.brokerEnded
            case .finished(let signal):
                return Outcome(
                    applicationID: signal.applicationId, errorName: signal.errorName,
                    message: FailureText.words(
                        of: signal.message, from: signal.applicationId, offer.title))
            }
        }
        throw Failure.brokerEnded
    }

    /// Cancels the continuation, which brings its outcome, unless it is too late.
    /// - Throws: the error with which the broker answers.
    package func cancel() async throws { try await RemoteActivityProxy(broker.object(offer.path)).cancel() }

    private func isOurs(_ signal: Message) -> Bool {
        signal.sender == broker.name && signal.path == offer.path
    }

    private func finished(_ signal: Message) {
        guard isOurs(signal), let arguments = try? RemoteActivityContinueFinished(signal) else { return }
        feed.yield(.finished(arguments))
    }

    private func traced(_ signal: Message) {
        if isOurs(signal) { trace = try? RemoteActivityContinueTrace(signal) }
    }

    private func changed(_ signal: Message) {
        guard isOurs(signal) else { return }
        var reader = MessageReader(signal)
        guard (try? reader.read(String.self)) == RemoteActivityProxy.interface.text,
            let properties: [String: Value] = try? reader.read()
        else { return }
        let before = offer
        offer.update(properties)
        if offer != before { onChange?(before, offer) }
    }
}

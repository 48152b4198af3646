// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import MainLoop

/// What can happen to a command that acts as an application until it is told to end.
enum StandingEvent: Sendable {
    /// How the application stands with the broker.
    case standing(ClientStanding)
    /// The broker has ended; whether another one has taken its place.
    case brokerEnded(isReplaced: Bool)
    /// The broker has ended the registration; the text says why, for people to read.
    case registrationEnded(String)
    /// The broker has refused something that the command cannot do without, or the command cannot go on.
    case failed(any Error)
    /// The user wants the command to end (SIGINT, SIGTERM, SIGHUP), or it is done.
    case end
}

/// Collects these events, in the order in which they happen.
@MainLoop
final class StandingEvents {
    /// The events.
    let stream: AsyncStream<StandingEvent>
    private let feed: AsyncStream<StandingEvent>.Continuation
    private var signals: EndingSignals?
    /// Whether the command is to end, even if that has not been noticed yet.
    private(set) var isEnding = false
    /// Comes once the user wants the command to end.
    let interruption = Awaited<Void>()

    /// No events so far.
    init() {
        (stream, feed) = AsyncStream.makeStream()
        signals = EndingSignals { [weak self] in
            self?.interruption.come(())
            self?.end()
        }
    }

    /// Says that the command is done.
    func end() {
        isEnding = true
        feed.yield(.end)
    }

    /// Says what has happened.
    func happened(_ event: StandingEvent) { feed.yield(event) }
}

/// What a command does as an application. What happens to its broker goes to ``events``.
@MainLoop
protocol StandingDelegate: HandoffClientDelegate {
    /// What may end the command, and what happens to its broker.
    var events: StandingEvents { get }
}

extension StandingDelegate {
    func standingChanged(_ standing: ClientStanding) { events.happened(.standing(standing)) }
    func brokerEnded(isReplaced: Bool) { events.happened(.brokerEnded(isReplaced: isReplaced)) }
    func registrationEnded(_ reason: String) { events.happened(.registrationEnded(reason)) }
}

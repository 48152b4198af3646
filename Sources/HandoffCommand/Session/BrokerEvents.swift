// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop

/// What can happen to a command that runs until it is told to end.
enum StandingEvent: Sendable {
    /// The broker is this connection now; nil means that there is none.
    case broker(BusName?)
    /// This broker has ended the registration of this program; the text says why, for people to read.
    case registrationEnded(BusName, String)
    /// The session bus is gone.
    case busEnded
    /// The user wants the command to end (SIGINT, SIGTERM, SIGHUP), or it is done.
    case end
}

/// Collects these events, in the order in which they happen.
@MainLoop
final class BrokerEvents {
    /// The events. The first one says who the broker is.
    let stream: AsyncStream<StandingEvent>
    private let feed: AsyncStream<StandingEvent>.Continuation
    private var signals: EndingSignals?
    private var watch: NameWatch?
    private var token: SignalToken?
    /// Whether the command is to end, even if that has not been noticed yet.
    private(set) var isEnding = false

    /// The events on `bus`.
    init(_ bus: Bus) {
        (stream, feed) = AsyncStream.makeStream()
        let feed = feed
        watch = bus.watch(HandoffNames.broker) { feed.yield(.broker($0)) }
        signals = EndingSignals { [weak self] in self?.end() }
        token = bus.connection.onSignal(ManagerProxy.interface, ManagerRegistrationEnded.member) {
            guard let sender = $0.sender, let arguments = try? ManagerRegistrationEnded($0) else { return }
            feed.yield(.registrationEnded(sender, arguments.reason))
        }
        bus.connection.onClosed = { _ in feed.yield(.busEnded) }
    }

    /// Says that the command is done.
    func end() {
        isEnding = true
        feed.yield(.end)
    }
}

extension CommandFailure {
    /// The bus is gone, and with it everything that was registered.
    static let busEnded = CommandFailure(
        "The session bus has ended. Log in again, and start this command again.")
}

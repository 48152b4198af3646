// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What can happen to a command that follows the broker until it is told to end.
enum BrokerEvent: Sendable {
    /// The broker is this connection now; nil means that there is none.
    case broker(BusName?)
    /// The session bus is gone.
    case busEnded
    /// The user wants the command to end (SIGINT, SIGTERM, SIGHUP), or it is done.
    case end
}

/// Collects these events, in the order in which they happen.
@MainLoop
final class BrokerEvents {
    /// The events. The first one says who the broker is.
    let stream: AsyncStream<BrokerEvent>
    private let feed: AsyncStream<BrokerEvent>.Continuation
    private var signals: EndingSignals?
    private var watch: NameWatch?

    /// The events on `bus`.
    init(_ bus: Bus) {
        (stream, feed) = AsyncStream.makeStream()
        let feed = feed
        watch = bus.watch(HandoffNames.broker) { feed.yield(.broker($0)) }
        signals = EndingSignals { feed.yield(.end) }
        bus.connection.onClosed = { _ in feed.yield(.busEnded) }
    }

    /// Says that the command is done.
    func end() { feed.yield(.end) }
}

extension CommandFailure {
    /// The bus is gone, and with it everything that was registered.
    static let busEnded = CommandFailure(
        tr("The session bus has ended. Log in again, and start this command again."), .notRunning)
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop

/// What can happen to a command that works for the bridge until it is told to end.
enum CarryEvent: Sendable {
    /// The bridge is this connection now; nil means that there is none.
    case bridge(BusName?)
    /// The command cannot go on.
    case failed(CommandFailure)
    /// The session bus is gone.
    case busEnded
    /// The user wants the command to end (SIGINT, SIGTERM, SIGHUP).
    case end
}

/// Collects these events, in the order in which they happen.
@MainLoop
final class CarryEvents {
    /// The events. The first one of the bridge says which there is.
    let stream: AsyncStream<CarryEvent>
    private let feed: AsyncStream<CarryEvent>.Continuation
    private var signals: EndingSignals?
    private var watch: NameWatch?

    /// The events on `bus`.
    init(_ bus: Bus) {
        (stream, feed) = AsyncStream.makeStream()
        let feed = feed
        watch = bus.watch(HandoffNames.bridge) { feed.yield(.bridge($0)) }
        signals = EndingSignals { feed.yield(.end) }
        bus.connection.onClosed = { _ in feed.yield(.busEnded) }
    }

    /// Says that the command cannot go on.
    func failed(_ failure: CommandFailure) { feed.yield(.failed(failure)) }
}

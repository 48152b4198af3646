// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop
internal import Platform

/// What can happen to a command that follows one of the daemons until it is told to end.
enum DaemonEvent: Sendable {
    /// The daemon is this connection now; nil means that there is none.
    case owner(BusName?)
    /// The command cannot go on.
    case failed(CommandFailure)
    /// The session bus is gone.
    case busEnded
    /// The user wants the command to end (SIGINT, SIGTERM, SIGHUP), or it is done.
    case end
}

/// Collects these events, in the order in which they happen.
@MainLoop
final class DaemonEvents {
    /// The events. The first one of the daemon says who that is.
    let stream: AsyncStream<DaemonEvent>
    private let feed: AsyncStream<DaemonEvent>.Continuation
    private var signals: EndingSignals?
    private var watch: NameWatch?

    /// The events on `bus`, where the daemon has this name.
    init(_ bus: Bus, _ daemon: BusName) {
        (stream, feed) = AsyncStream.makeStream()
        let feed = feed
        watch = bus.watch(daemon) { feed.yield(.owner($0)) }
        signals = EndingSignals { feed.yield(.end) }
        bus.connection.onClosed = { _ in feed.yield(.busEnded) }
    }

    /// Says that the command cannot go on.
    func failed(_ failure: CommandFailure) { feed.yield(.failed(failure)) }

    /// Says that the command is done.
    func end() { feed.yield(.end) }
}

extension CommandFailure {
    /// The bus is gone, and with it everything that was registered.
    static let busEnded = CommandFailure(
        tr("The session bus has ended. Log in again, and start this command again."), .notRunning)
}

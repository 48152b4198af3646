// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop
internal import Platform

/// A channel to a bus in another process.
@MainLoop
final class BusEnd: BusChannel, ChannelOwner {
    weak var connection: Connection?
    private let channel: SocketChannel
    private let log = Log(domain: "dbus")

    /// How many bytes a call may take: twice what an activity may. Building millions of small values takes a hundred times as
    /// long, and as much memory, as their bytes.
    private static let longestCall = 512 << 10
    /// How many bytes anything else may take. Lists of all objects may be long.
    private static let longest = 64 << 20

    /// Nothing is read while more than 4 MiB wait to be sent: the answers to whoever calls without reading stay unmade.
    nonisolated static let limits = SocketChannel.Limits(
        frames: Framer.Limits(header: 128 << 10, message: Message.maximumLength, passesOverBad: true),
        comfortable: 4 << 20, unsent: nil, restsWhileCrowded: true, waitingJobs: 64, patience: nil)

    init(_ channel: SocketChannel) {
        self.channel = channel
        channel.owner = self
        channel.begin()
    }

    // MARK: BusChannel

    var isCrowded: Bool { channel.isCrowded }

    func send(_ message: Message) throws(DBusError) -> UInt32 { try channel.send(message) }

    func sandbox(of name: BusName, _ credentials: Credentials) -> Sandbox? {
        DescriptorLimit.withReserve { Sandbox.of(credentials) }
    }

    func flush(until deadline: Int64) { channel.flush(until: deadline) }

    func close() { channel.close() }

    // MARK: ChannelOwner

    func judge(_ message: Message) -> Framer.Verdict {
        let most = message.kind == .call ? Self.longestCall : Self.longest
        guard message.length > most else { return .take }
        log.debug("A message of \(message.length) bytes is passed over.")
        connection?.refuse(
            message, .limitsExceeded("The call takes \(message.length) bytes, more than the \(most) allowed.")
        )
        return .passOver
    }

    func received(_ message: Message) {
        // A bus does not call. Asking who it is would wait for itself.
        guard message.kind != .call || message.sender != Bus.name else { return }
        connection?.received(message)
    }

    func notSent(_ message: Message, _ why: String) { connection?.notSent(message, why) }

    /// The longer a call has just taken, the longer: whatever is asked for, others are heard between.
    var readingTime: Int64 { CallTurns.shared.readingTime }

    /// Behind what has come much else may wait in the bus, of others, and come no faster than room is made for it.
    var canLinger: Bool { CallTurns.shared.isCostly }

    func ended(_ reason: SocketChannel.End) {
        switch reason {
        case .closed: log.debug("The bus has closed the connection.")
        case .broken(let why): log.warning("The connection to the bus is broken: \(why).")
        case .violation(let why):
            let error = DBusError(.failed, "The connection to the bus was given up: \(why).")
            log.warning(error.message)
            connection?.closed(error)
            return
        }
        connection?.closed(DBusError(.disconnected, "The bus has closed the connection."))
    }
}

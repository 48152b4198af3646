// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop
internal import Platform

/// A socket to one connection of a bus: messages between the two pass the bus daemon by, in order.
///
/// Who is at its other end is known by whom it was given to, or got from, over the bus; no message on it says anything
/// about that. It is the way of all that the ``Connection`` to the bus sends to that name. Whatever breaks a rule ends it.
@MainLoop
package final class AttachedSocket: ChannelOwner {
    /// The unique name of the connection at the other end.
    package let name: BusName
    /// Whether it has been there for so long that another one may take its place when it ends: two sides that disagree must not
    /// go on replacing it.
    package var hasLasted: Bool { MainLoop.now - begunAt >= Self.leastTime }
    /// Called once when the other side has ended the socket, or it has broken a rule.
    package var onEnded: (@MainLoop () -> Void)?
    /// Called when ``isCrowded`` has changed.
    package var onCrowding: (@MainLoop () -> Void)?
    /// Whether so much waits to be sent that nothing should be done which adds to it.
    package var isCrowded: Bool { channel.isCrowded }

    /// How long it has to last, in microseconds, to be replaced.
    private static let leastTime: Int64 = 10_000_000
    /// No message that two daemons have for each other is longer than 4 MiB.
    private static let limits = SocketChannel.Limits(
        frames: Framer.Limits(header: 4096, message: 4 << 20), comfortable: 4 << 20, unsent: 64 << 20,
        waitingJobs: 64, patience: .seconds(5))

    private let channel: SocketChannel
    private weak var main: Connection?
    /// This end of it, once it has begun.
    private(set) var connection: Connection?
    private var line: CallLine?
    private let begunAt = MainLoop.now
    /// Called when it ends after ``finish(_:)``.
    private var onFinished: (@MainLoop () -> Void)?
    private let log = Log(domain: "dbus")

    /// The way to `name` by `socket`, once it is given to ``Connection/attach(_:)``.
    package init(_ socket: consuming FileDescriptor, to name: BusName) {
        self.name = name
        channel = SocketChannel(SocketTransport(socket, takesDescriptors: true), Self.limits)
    }

    isolated deinit { channel.close() }

    func begin(past main: Connection) {
        self.main = main
        connection = Connection(channel, past: main)
        line = main.directory?.line(of: name)
        line?.onRoom = { [weak self] in self?.channel.goOn() }
        channel.owner = self
        channel.begin()
    }

    /// Ends it from this side. Nothing that is unread counts.
    func release() {
        channel.close()
        close()
    }

    /// Takes what the other side, which has left the bus, has left behind, and ends.
    /// - Parameter ended: called then.
    func finish(_ ended: @escaping @MainLoop () -> Void) {
        onFinished = ended
        guard line?.caller != nil else {
            // Nothing counts of somebody unknown: its end would wait behind that forever.
            channel.close()
            return self.ended(.closed(inOrder: false))
        }
        channel.endInput()
    }

    private func close() {
        connection?.closed(DBusError(.noReply, "\(name) has gone without a reply."))
        guard let onFinished else { return }
        self.onFinished = nil
        MainLoop.start { onFinished() }
    }

    // MARK: ChannelOwner

    /// What comes by a socket is not refused, but read later.
    package var isHeldUp: Bool { line?.isFull == true }

    package func received(_ message: Message) throws(DBusError) {
        guard message.kind != nil else { throw .malformed("its type is unknown") }
        try connection?.check(message)
        message.origin = name
        connection?.received(message)
    }

    package func settle(_ body: @escaping @MainLoop () -> Void) {
        connection?.afterWhatCame(from: name, body)
    }

    package func crowdingChanged() { onCrowding?() }

    package func notSent(_ message: Message, _ why: String) { connection?.notSent(message, why) }

    package func ended(_ reason: SocketChannel.End) {
        log.debug("The socket to \(name) has ended: \(reason).")
        main?.detached(self)
        close()
        onEnded?()
        (onEnded, onCrowding) = (nil, nil)
    }
}

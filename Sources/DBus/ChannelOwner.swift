// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// Whoever uses a ``SocketChannel``.
@MainLoop
package protocol ChannelOwner: AnyObject {
    /// Whether nothing is read for now. When that is over, ``SocketChannel/goOn()`` is called.
    var isHeldUp: Bool { get }
    /// Lets `read` run, now or later, and at whose expense is right.
    /// - Returns: whether that was now.
    func admitReading(_ read: @escaping @MainLoop () -> Void) -> Bool
    /// How long messages are taken, in microseconds, before others on the main loop get their turn.
    var readingTime: Int64 { get }
    /// Whether what has come can wait for a moment, in which the other side may send more of what it has.
    var canLinger: Bool { get }
    /// Decides what becomes of a message, of which only the header need have come.
    /// - Throws: `InvalidArgs`, saying what the other side did, if the channel is to end.
    func judge(_ message: Message) throws(DBusError) -> Framer.Verdict
    /// Takes a message, whose body is not checked.
    /// - Throws: `InvalidArgs`, saying what the other side did, if the channel is to end.
    func received(_ message: Message) throws(DBusError)
    /// Calls `body` once all that has come has begun to take effect.
    func settle(_ body: @escaping @MainLoop () -> Void)
    /// ``SocketChannel/isCrowded`` has changed.
    func crowdingChanged()
    /// `message` cannot be sent, because of `why`, which concerns the descriptors that it has; what follows is.
    func notSent(_ message: Message, _ why: String)
    /// The channel has ended, by itself.
    func ended(_ reason: SocketChannel.End)
}

extension ChannelOwner {
    package var isHeldUp: Bool { false }
    package func admitReading(_ read: @escaping @MainLoop () -> Void) -> Bool {
        read()
        return true
    }
    package var readingTime: Int64 { 1000 }
    package var canLinger: Bool { false }
    package func judge(_ message: Message) throws(DBusError) -> Framer.Verdict { .take }
    package func settle(_ body: @escaping @MainLoop () -> Void) { MainLoop.start { body() } }
    package func crowdingChanged() {}
    package func notSent(_ message: Message, _ why: String) {}
}

extension SocketChannel {
    /// How much goes by a channel.
    package struct Limits: Sendable {
        /// How long messages may be that come.
        let frames: Framer.Limits
        /// How many bytes may wait to be sent before it is crowded.
        let comfortable: Int
        /// How many bytes may wait to be sent, besides a first message of whatever size, before it ends; nil if it never does.
        let unsent: Int?
        /// Whether nothing is read while it is crowded. Two sides that both did so could wait for each other.
        let restsWhileCrowded: Bool
        /// How many jobs may wait on the main loop before reading rests, since it would add more of them.
        let waitingJobs: Int
        /// How long the rest of a message may take to come, each byte of it; nil if that does not matter.
        let patience: Duration?

        package init(
            frames: Framer.Limits, comfortable: Int, unsent: Int?, restsWhileCrowded: Bool = false,
            waitingJobs: Int, patience: Duration?
        ) {
            self.frames = frames
            self.comfortable = comfortable
            self.unsent = unsent
            self.restsWhileCrowded = restsWhileCrowded
            self.waitingJobs = waitingJobs
            self.patience = patience
        }
    }

    /// Why a channel has ended.
    package enum End: Equatable, Sendable {
        /// The other side has closed it, in order or without a word. All that came before has been taken.
        case closed(inOrder: Bool)
        /// The connection is broken, because of this. All that came before has been taken.
        case broken(String)
        /// The other side has done this, which it must not.
        case violation(String)
    }
}

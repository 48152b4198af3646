// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// What carries messages to the other side: a ``SocketChannel``, or what adds rules of its own to one.
///
/// Everything above it (dispatch, proxies, the reply table) is ``Connection``, the same for every channel. A
/// channel hands what arrives to ``Connection/received(_:)`` and says ``Connection/closed(_:)`` at its end.
@MainLoop
package protocol MessageChannel: AnyObject {
    /// Whether so much waits to be sent that nothing should be done which adds to it.
    var isCrowded: Bool { get }
    /// Queues `message` and returns the serial number that it was given.
    /// - Throws: `Disconnected` if the channel has ended, another error if it cannot carry the message.
    func send(_ message: Message) throws(DBusError) -> UInt32
}

/// A channel to a bus.
@MainLoop
protocol BusChannel: MessageChannel {
    /// Who is told what comes.
    var connection: Connection? { get set }
    /// The sandbox that `name` is in, of whom the bus says `credentials`; nil if it is in none.
    func sandbox(of name: BusName, _ credentials: Credentials) -> Sandbox?
    /// Sends what waits before it returns, unless that takes until `deadline`, in microseconds of ``MainLoop/now``.
    func flush(until deadline: Int64)
    /// Ends it from this side. Nothing that is unread counts.
    func close()
}

extension SocketChannel: MessageChannel {
    package func send(_ message: Message) throws(DBusError) -> UInt32 {
        try send(message, limit: Message.maximumLength)
    }
}

/// Knows who sends what comes by a channel.
@MainLoop
package protocol Directory: AnyObject {
    /// The line of `sender`, whom a message names; nil if that is nobody.
    func line(of sender: BusName?) -> CallLine?
    /// The same, if there is one already.
    func knownLine(of sender: BusName?) -> CallLine?
}

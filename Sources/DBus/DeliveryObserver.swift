// SPDX-License-Identifier: LGPL-2.1-or-later
public import MainLoop

/// Is told of the calls and signals that a connection sends to single others, and of what comes of them: a program that
/// does not read what it is sent lets it pile up at the bus.
///
/// Replies are not counted: who asks waits for them, and the bus bounds them.
@MainLoop
public protocol DeliveryObserver: AnyObject {
    /// Whether calls and signals may be sent to `name`; if not, sending them fails with `NoReply`.
    func maySend(to name: BusName) -> Bool
    /// A call or a signal is on its way to `name`. `serial` counts the messages of the connection.
    func sent(_ serial: UInt32, to name: BusName, isCall: Bool)
    /// `name` has answered the call, in time or later, so it has read everything up to that. Whatever it calls an
    /// answer is reported, also of calls that were never made.
    func answered(_ serial: UInt32, by name: BusName)
    /// `name` has not answered the call in time.
    func unanswered(_ serial: UInt32, by name: BusName)
    /// Nobody waits for the answer of `name` any more, or the bus has given one in its place.
    func abandoned(_ serial: UInt32, to name: BusName)
    /// `name` has asked to be told of changes.
    func subscribed(_ name: BusName)
}

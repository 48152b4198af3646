// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// Observes the calls and signals that a connection sends to individual others, and what comes of them: if a
/// program does not read what it is sent, that piles up in the bus.
///
/// Replies are not counted: whoever asks waits for them, and the bus limits them.
@MainLoop
package protocol DeliveryObserver: AnyObject {
    /// Whether calls and signals may be sent to `name`; if not, sending them fails with `NoReply`.
    func maySend(to name: BusName) -> Bool
    /// A call or a signal is on its way to `name`. `serial` counts the messages of the connection.
    func sent(_ serial: UInt32, to name: BusName, isCall: Bool)
    /// `name` has answered the call, in time or later, so it has read everything up to that call. Everything
    /// that claims to be an answer is reported, even to calls that were never made.
    func answered(_ serial: UInt32, by name: BusName)
    /// `name` has not answered the call in time.
    func unanswered(_ serial: UInt32, by name: BusName)
    /// Nobody is waiting for the answer of `name` any longer, or the bus has answered in its place.
    func abandoned(_ serial: UInt32, to name: BusName)
    /// `name` has asked to be told of changes.
    func subscribed(_ name: BusName)
}

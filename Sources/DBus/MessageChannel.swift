// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// What carries messages to the other side: a bus, or a link between two devices.
///
/// Everything above it (dispatch, proxies, the reply table) is ``Connection``, the same for every channel. A
/// channel hands what arrives to ``Connection/received(_:)`` and says ``Connection/closed(_:)`` at its end.
@MainLoop
package protocol MessageChannel: AnyObject {
    /// Queues `message` and returns the serial number that it was given.
    /// - Throws: `Disconnected` if the channel has ended, another error if it cannot carry the message.
    func send(_ message: Message) throws(DBusError) -> UInt32

    /// Finds out who sent `message`, and calls `body` with the result: at once if it is known, otherwise as
    /// soon as it is. For each sender, the bodies are called in the order of its messages. If the sender has
    /// gone, `body` is not called.
    func identify(senderOf message: Message, _ body: @escaping @MainLoop (Caller) -> Void)
}

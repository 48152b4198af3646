// SPDX-License-Identifier: LGPL-2.1-or-later
public import MainLoop

/// What carries messages to the other side: a bus, or a link between two devices.
///
/// Everything above it (dispatch, proxies, the reply table) is ``Connection``, the same for every channel. A
/// channel hands what arrives to ``Connection/received(_:)`` and says ``Connection/closed(_:)`` at its end.
@MainLoop
public protocol MessageChannel: AnyObject {
    /// Queues `message` and returns the serial number that it was given.
    /// - Throws: `Disconnected` if the channel has ended, another error if it cannot carry the message.
    func send(_ message: Message) throws(DBusError) -> UInt32

    /// Calls `body` with who sent `message`: at once if that is known, else as soon as it is. For one sender the
    /// bodies are called in the order of the messages. It is not called if the sender has gone.
    func identify(senderOf message: Message, _ body: @escaping @MainLoop (Caller) -> Void)
}

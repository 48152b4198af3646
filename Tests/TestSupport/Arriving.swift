// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus

extension Framer {
    /// Takes in what has come.
    package mutating func add(_ part: some Collection<UInt8>) {
        Array(part).withUnsafeBytes { add($0) }
    }
}

extension Message {
    /// The message that `bytes` hold, exactly, as it arrives.
    /// - Throws: `InvalidArgs` if they hold anything else than one valid message of a known type without file descriptors, or if
    ///   there are more than `limit`.
    package static func demarshal(
        _ bytes: [UInt8], limit: Int = Message.maximumLength
    ) throws(DBusError) -> Message {
        var framer = Framer(Framer.Limits(header: limit, message: limit))
        framer.add(bytes)
        guard let message = try framer.next(), !framer.isWithinMessage, message.kind != nil else {
            throw .invalidArgs("\(bytes.count) bytes are not one message")
        }
        try message.checkBody()
        return message
    }
}

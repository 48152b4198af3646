// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// Messages on a socket that passes the bus daemon by (``AttachedSocket``): there a number, of type `u`, stands where a
/// descriptor is meant, and one descriptor at most travels with the message.
extension Message {
    /// This message as bytes, with its descriptor as a number.
    /// - Throws: `InvalidArgs` if it carries several descriptors; `LimitsExceeded` if it takes more than `limit` bytes.
    func marshalNumbered(limit: Int) throws(DBusError) -> [UInt8] {
        guard containsFileDescriptors else { return try marshal(limit: limit, withBody: true) }
        guard descriptors.count == 1, types.count(where: { $0 == TypeCode.fileDescriptor }) == 1 else {
            throw .invalidArgs("This message carries \(descriptors.count) descriptors. Send one at a time.")
        }
        let named = types
        defer { types = named }
        types = types.map { $0 == TypeCode.fileDescriptor ? TypeCode.uint32 : $0 }
        return try marshal(limit: limit, withBody: true)
    }

    /// The message that `bytes` hold, exactly, which has come by `socket`: from whom is known by that, whatever they say.
    @MainLoop
    static func demarshal(_ bytes: [UInt8], from socket: AttachedSocket) throws(DBusError) -> Message {
        let message = try demarshal(bytes)
        (message.attachedSender, message.way) = (socket.name, .socket(socket.number))
        return message
    }

    /// `descriptor` has come with it, and is the message's own from now on.
    func carry(_ descriptor: Int32) {
        descriptors = [descriptor]
        numbersDescriptors = true
    }

    /// Whether the body has these types, with a number for the descriptor.
    func hasNumberedSignature(_ signature: String) -> Bool {
        var count = 0
        let numbered = String(
            decoding: signature.utf8.map { type in
                guard type == TypeCode.fileDescriptor else { return type }
                count += 1
                return TypeCode.uint32
            }, as: UTF8.self)
        return count == descriptors.count && holdsSignature(numbered)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// Messages as bytes.
extension Message {
    /// The length that D-Bus allows a message to have, in bytes.
    package static let maximumLength = 1 << 27

    /// This message as bytes, with the numbers of the descriptors that go along.
    /// - Throws: `InvalidArgs` if it has no serial number; `LimitsExceeded` if it takes more than `limit` bytes.
    package func marshal(limit: Int = Message.maximumLength) throws(DBusError) -> [UInt8] {
        guard serial != 0 else {
            throw .invalidArgs("A message without a serial number cannot be marshalled.")
        }
        let length = marshalledSize
        guard length <= min(limit, Self.maximumLength) else {
            throw .limitsExceeded("The message takes \(length) bytes, more than the \(limit) allowed.")
        }
        var output = MarshalledOutput(capacity: length)
        output.append(bytes)
        if bodyStart == nil {
            if containsFileDescriptors { appendDescriptors(to: &output) }
            if !types.isEmpty { appendSignature(to: &output) }
            output.replace(at: 12, with: UInt32(truncatingIfNeeded: output.bytes.count - MessageStart.size))
            output.align(8)
            output.replace(at: 4, with: UInt32(truncatingIfNeeded: body.bytes.count))
            output.append(body.bytes)
        }
        output.replace(at: 8, with: isBigEndian ? serial.byteSwapped : serial)
        return output.bytes
    }

    private func appendDescriptors(to output: inout MarshalledOutput) {
        output.align(8)
        for byte in [MessageFields.Code.descriptors, 1, TypeCode.uint32, 0] { output.append(byte) }
        output.append(integer: UInt32(truncatingIfNeeded: descriptors.count))
    }

    private func appendSignature(to output: inout MarshalledOutput) {
        output.align(8)
        for byte in [MessageFields.Code.signature, 1, TypeCode.signature, 0] { output.append(byte) }
        output.append(UInt8(truncatingIfNeeded: types.count))
        output.append(types)
        output.append(0)
    }

    /// How many bytes the message takes.
    package var marshalledSize: Int {
        guard bodyStart == nil else { return bytes.count }
        var header = bytes.count
        if containsFileDescriptors { header = (header + 7) & ~7 + 8 }
        // The field with the signature takes six bytes beside the types.
        if !types.isEmpty { header = (header + 7) & ~7 + types.count + 6 }
        return (header + 7) & ~7 + body.bytes.count
    }

    /// The body, to be read from its beginning, with the types in front of it or, if it was made here, behind it.
    var input: MarshalledInput {
        if let bodyStart {
            return MarshalledInput(bytes, isBigEndian: isBigEndian, bodyStart..<bytes.count)
        }
        return MarshalledInput(body.bytes + types, isBigEndian: false, 0..<body.bytes.count)
    }

    /// Where the types of the body are in the bytes of ``input``.
    var typesOfInput: Range<Int> {
        bodyStart == nil
            ? body.bytes.count..<body.bytes.count + types.count : fields.signature
    }

    static let descriptorRefused = DBusError.invalidArgs(
        "A file descriptor (type h) cannot be sent to another device.")
}

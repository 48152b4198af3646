// SPDX-License-Identifier: LGPL-2.1-or-later

/// Messages as bytes. What comes in may be anything; over a channel that is not a bus, descriptors never travel.
extension Message {
    /// The length that D-Bus allows a message to have, in bytes.
    package static let maximumLength = 1 << 27

    /// What the first bytes of a stream say about the message that begins there.
    package enum Framing: Equatable, Sendable {
        /// There are too few bytes to tell.
        case needMore
        /// The message takes this many bytes.
        case length(Int)
        /// No message begins like this, or the message is longer than allowed.
        case invalid
    }

    /// The fixed part of a header with the length of its fields: enough to know a message's length.
    private static let fixedSize = 16

    /// How many bytes the message takes that begins with `prefix`.
    ///
    /// Ask before more than the first 16 bytes are kept: whatever is longer than `limit` is invalid at once.
    package static func neededBytes(
        _ prefix: some Collection<UInt8>, limit: Int = Message.maximumLength
    ) -> Framing {
        let head = Array(prefix.prefix(fixedSize))
        guard head.count == fixedSize else { return .needMore }
        guard let layout = Layout(head), layout.length <= limit else { return .invalid }
        return .length(layout.length)
    }

    /// What the fixed part of a header says.
    private struct Layout {
        let isBigEndian: Bool
        let serial: UInt32
        /// Where the fields end, where the body begins, and where it ends.
        let fieldsEnd: Int
        let bodyStart: Int
        let length: Int

        /// Nil if no message begins like `bytes`, of which there are 16 at least.
        init?(_ bytes: [UInt8]) {
            guard bytes[0] == UInt8(ascii: "l") || bytes[0] == UInt8(ascii: "B") else { return nil }
            isBigEndian = bytes[0] == UInt8(ascii: "B")
            var input = MarshalledInput(bytes, isBigEndian: isBigEndian, 4..<Message.fixedSize)
            guard let body: UInt32 = try? input.integer(), let serial: UInt32 = try? input.integer(),
                let fields: UInt32 = try? input.integer(),
                fields <= Message.maximumLength, body <= Message.maximumLength
            else { return nil }
            self.serial = serial
            fieldsEnd = Message.fixedSize + Int(fields)
            bodyStart = (fieldsEnd + 7) & ~7
            length = bodyStart + Int(body)
            guard length <= Message.maximumLength else { return nil }
        }
    }

    // MARK: Sending

    /// This message as bytes.
    /// - Throws: `InvalidArgs` if it has no serial number or a file descriptor travels with it;
    ///   `LimitsExceeded` if it takes more than `limit` bytes.
    package func marshal(limit: Int = Message.maximumLength) throws(DBusError) -> [UInt8] {
        // A writer never appends the type of a descriptor without a descriptor.
        guard !containsFileDescriptors else { throw Self.descriptorRefused }
        return try marshal(limit: limit, withBody: true)
    }

    /// This message as bytes, with its body or without one.
    func marshal(limit: Int, withBody: Bool) throws(DBusError) -> [UInt8] {
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
            if withBody, !types.isEmpty { appendSignature(to: &output) }
            output.replace(at: 12, with: UInt32(truncatingIfNeeded: output.bytes.count - Self.fixedSize))
            output.align(8)
            if withBody {
                output.replace(at: 4, with: UInt32(truncatingIfNeeded: body.bytes.count))
                output.append(body.bytes)
            }
        }
        output.replace(at: 8, with: isBigEndian ? serial.byteSwapped : serial)
        return output.bytes
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
        // The field with the signature takes six bytes beside the types.
        let header = types.isEmpty ? bytes.count : (bytes.count + 7) & ~7 + types.count + 6
        return (header + 7) & ~7 + body.bytes.count
    }

    // MARK: Receiving

    /// The message that `bytes` hold, exactly.
    ///
    /// Its sender, destination, serial and flags are whatever the other side wrote.
    /// - Throws: `InvalidArgs` if they hold anything else than one valid message of a known type without file
    ///   descriptors; `LimitsExceeded` if there are more than `limit`.
    package static func demarshal(
        _ bytes: [UInt8], limit: Int = Message.maximumLength
    ) throws(DBusError) -> Message {
        guard bytes.count <= min(limit, maximumLength) else {
            throw .limitsExceeded("The message takes \(bytes.count) bytes, more than the \(limit) allowed.")
        }
        let message = try reading(bytes)
        guard message.kind != nil else { throw .malformed("its type is unknown") }
        guard message.fields.descriptors == 0 else { throw descriptorRefused }
        var body = message.input
        try body.checkValues(of: message.fields.signature)
        return message
    }

    /// The message that `bytes` hold, exactly, whose header is checked and whose body is not.
    static func reading(_ bytes: [UInt8]) throws(DBusError) -> Message {
        guard bytes.count >= fixedSize, let layout = Layout(bytes), layout.length == bytes.count else {
            throw .malformed("\(bytes.count) bytes are not one message")
        }
        guard bytes[1] != 0, bytes[3] == 1, layout.serial != 0 else {
            throw .malformed("its type, version or serial number is none")
        }
        var input = MarshalledInput(
            bytes, isBigEndian: layout.isBigEndian, fixedSize..<layout.fieldsEnd)
        input.takesDescriptors = true
        let fields = try MessageFields(reading: &input)
        for index in layout.fieldsEnd..<layout.bodyStart where bytes[index] != 0 {
            throw .malformed("padding is not zero")
        }
        let message = Message(
            received: bytes, fields, bodyStart: layout.bodyStart, isBigEndian: layout.isBigEndian,
            serial: layout.serial)
        try message.checkFields()
        return message
    }

    /// Throws unless each field is there that messages of its kind have, and none names what D-Bus reserves.
    private func checkFields() throws(DBusError) {
        let isComplete =
            switch kind {
            case .call: !fields.path.isEmpty && !fields.member.isEmpty
            case .signal: !fields.path.isEmpty && !fields.member.isEmpty && !fields.interface.isEmpty
            case .reply: fields.replySerial != 0
            case .error: fields.replySerial != 0 && !fields.errorName.isEmpty
            case nil: true
            }
        guard isComplete else { throw .malformed("a field of the header is missing") }
        guard !begins(fields.path, with: "/org/freedesktop/DBus/Local"),
            !begins(fields.interface, with: "org.freedesktop.DBus.Local")
        else { throw .malformed("D-Bus reserves its path or interface") }
    }

    private func begins(_ range: Range<Int>, with text: StaticString) -> Bool {
        range.count >= text.utf8CodeUnitCount
            && bytes.holds("\(text)", at: range.lowerBound..<range.lowerBound + text.utf8CodeUnitCount)
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

// SPDX-License-Identifier: LGPL-2.1-or-later

/// What the sixteen bytes say that every message begins with (D-Bus Specification, "Message Format").
struct MessageStart {
    /// How many bytes that are.
    static let size = 16

    let isBigEndian: Bool
    /// Whether it answers a call, with what was asked for or with an error.
    let isAnswer: Bool
    /// The number by which replies name it; not checked, and so perhaps 0.
    let serial: UInt32
    /// Where the fields of the header end, where the body begins, and where it ends.
    let fieldsEnd: Int
    let bodyStart: Int
    let length: Int

    /// Nil if no message begins like `bytes`, of which there are 16 at least.
    init?(_ bytes: ArraySlice<UInt8>) {
        let first = bytes.startIndex
        guard bytes[first] == UInt8(ascii: "l") || bytes[first] == UInt8(ascii: "B") else { return nil }
        isBigEndian = bytes[first] == UInt8(ascii: "B")
        isAnswer = bytes[first + 1] == 2 || bytes[first + 1] == 3
        let numbers = bytes.withUnsafeBytes {
            (
                $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self),
                $0.loadUnaligned(fromByteOffset: 8, as: UInt32.self),
                $0.loadUnaligned(fromByteOffset: 12, as: UInt32.self)
            )
        }
        let isBig = isBigEndian
        func native(_ number: UInt32) -> UInt32 {
            isBig ? UInt32(bigEndian: number) : UInt32(littleEndian: number)
        }
        let (body, fields) = (Int(native(numbers.0)), Int(native(numbers.2)))
        serial = native(numbers.1)
        guard fields <= Message.maximumLength, body <= Message.maximumLength else { return nil }
        fieldsEnd = Self.size + fields
        bodyStart = (fieldsEnd + 7) & ~7
        length = bodyStart + body
        guard length <= Message.maximumLength else { return nil }
    }
}

/// What the header of a message says, all of it.
struct MessageHead {
    let start: MessageStart
    let fields: MessageFields

    /// Reads and checks the header at the beginning of `bytes`, which hold all of it.
    /// - Throws: `InvalidArgs` if no message has such a header.
    init(_ start: MessageStart, in bytes: [UInt8]) throws(DBusError) {
        guard bytes[1] != 0, bytes[3] == 1, start.serial != 0 else {
            throw .malformed("its type, version or serial number is not valid")
        }
        var input = MarshalledInput(
            bytes, isBigEndian: start.isBigEndian, MessageStart.size..<start.fieldsEnd)
        input.takesDescriptors = true
        fields = try MessageFields(reading: &input)
        for index in start.fieldsEnd..<start.bodyStart where bytes[index] != 0 {
            throw .malformed("padding is not zero")
        }
        self.start = start
        try checkFields(of: bytes)
    }

    /// Throws unless each field is there that messages of its kind have, and none names what D-Bus reserves.
    private func checkFields(of bytes: [UInt8]) throws(DBusError) {
        let isComplete =
            switch Message.Kind(type: bytes[1]) {
            case .call: !fields.path.isEmpty && !fields.member.isEmpty
            case .signal: !fields.path.isEmpty && !fields.member.isEmpty && !fields.interface.isEmpty
            case .reply: fields.replySerial != 0
            case .error: fields.replySerial != 0 && !fields.errorName.isEmpty
            case nil: true
            }
        guard isComplete else { throw .malformed("a field of the header is missing") }
        guard !bytes.holds("/org/freedesktop/DBus/Local", at: fields.path),
            !bytes.holds("org.freedesktop.DBus.Local", at: fields.interface)
        else { throw .malformed("D-Bus reserves its path or interface") }
    }
}

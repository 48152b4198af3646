// SPDX-License-Identifier: LGPL-2.1-or-later

/// The part of a message's header that decides whether the message is accepted. It is read from the raw
/// bytes, before the body has arrived and before anything is built from it (D-Bus Specification,
/// "Message Format").
package struct MessageHeader: Equatable, Sendable {
    /// The kind of the message; nil for a type that this version of D-Bus does not know.
    package let kind: Message.Kind?
    /// The serial number of the call that it answers; 0 for none.
    package let replySerial: UInt32
    /// How many bytes the whole message takes.
    package let length: Int

    /// What the first bytes of a stream say about the header that begins there.
    package enum Reading: Equatable, Sendable {
        /// There are too few bytes: this many are needed to tell more.
        case needs(Int)
        /// The header is complete.
        case header(MessageHeader)
        /// No message begins like this, or its header is longer than any that is accepted.
        case invalid
    }

    /// The fixed part of a header with the length of its fields.
    private static let fixedSize = 16
    /// The most that a header may take, in bytes: object, interface and member take no more on a link.
    package static let maximumSize = 2048
    /// The number of the field with the serial number of the call that is answered.
    private static let replySerialField: UInt8 = 5

    /// Reads the header at the beginning of `bytes`; anything may follow it.
    package static func read(_ bytes: [UInt8]) -> Reading { read(bytes[...]) }

    /// Reads the header at the beginning of `bytes`; anything may follow it.
    package static func read(_ bytes: ArraySlice<UInt8>) -> Reading {
        guard bytes.count >= fixedSize else { return .needs(fixedSize) }
        let first = bytes.startIndex
        let isLittle = bytes[first] == UInt8(ascii: "l")
        var start = HeaderBytes(bytes: bytes.prefix(fixedSize), isLittle: isLittle, offset: 4)
        guard isLittle || bytes[first] == UInt8(ascii: "B"), bytes[first + 3] == 1, let body = start.uint32(),
            let serial = start.uint32(), serial != 0,
            let fields = start.uint32(), fields <= maximumSize - fixedSize,
            body <= Message.maximumLength - maximumSize
        else { return .invalid }
        let size = fixedSize + (Int(fields) + 7) & ~7
        guard bytes.count >= size else { return .needs(size) }
        var reader = HeaderBytes(
            bytes: bytes.prefix(fixedSize + Int(fields)), isLittle: isLittle, offset: fixedSize)
        guard let replySerial = replySerial(&reader) else { return .invalid }
        let kind: Message.Kind? =
            switch bytes[first + 1] {
            case 1: .call
            case 2: .reply
            case 3: .error
            case 4: .signal
            default: nil
            }
        return .header(MessageHeader(kind: kind, replySerial: replySerial, length: size + Int(body)))
    }

    /// The serial number of the call that is answered, 0 for none; nil if the fields are malformed.
    private static func replySerial(_ reader: inout HeaderBytes) -> UInt32? {
        var serial: UInt32 = 0
        while !reader.isAtEnd {
            guard reader.align(8), let field = reader.byte(), let type = reader.type() else { return nil }
            if field == replySerialField {
                // If there are two, another reader might believe the other one.
                guard type == UInt8(ascii: "u"), serial == 0, let value = reader.uint32(), value != 0 else {
                    return nil
                }
                serial = value
            } else if !reader.skip(type) {
                return nil
            }
        }
        return serial
    }
}

/// Reads from the bytes of a header, and never beyond their end.
private struct HeaderBytes {
    let bytes: ArraySlice<UInt8>
    let isLittle: Bool
    /// How far it has been read, from its beginning.
    var offset: Int

    var isAtEnd: Bool { offset >= bytes.count }

    private subscript(_ offset: Int) -> UInt8 { bytes[bytes.startIndex + offset] }

    mutating func align(_ boundary: Int) -> Bool {
        let aligned = (offset + boundary - 1) & ~(boundary - 1)
        guard aligned <= bytes.count else { return false }
        while offset < aligned {
            guard self[offset] == 0 else { return false }
            offset += 1
        }
        return true
    }

    /// Passes over `count` bytes.
    private mutating func pass(_ count: Int) -> Bool {
        guard count <= bytes.count - offset else { return false }
        offset += count
        return true
    }

    mutating func byte() -> UInt8? { pass(1) ? self[offset - 1] : nil }

    mutating func uint32() -> UInt32? {
        guard align(4), pass(4) else { return nil }
        var value: UInt32 = 0
        for index in offset - 4..<offset { value = value << 8 | UInt32(self[index]) }
        return isLittle ? value.byteSwapped : value
    }

    /// The one type code of a signature that has no more.
    mutating func type() -> UInt8? {
        guard byte() == 1, let type = byte(), byte() == 0 else { return nil }
        return type
    }

    private mutating func skipSignature() -> Bool {
        guard let count = byte(), pass(Int(count)) else { return false }
        return byte() == 0
    }

    /// Skips a value of one of the types that header fields have.
    mutating func skip(_ type: UInt8) -> Bool {
        switch type {
        case UInt8(ascii: "y"): byte() != nil
        case UInt8(ascii: "u"): uint32() != nil
        case UInt8(ascii: "g"): skipSignature()
        case UInt8(ascii: "s"), UInt8(ascii: "o"): skipText()
        // Fields of other types would belong to a version that does not exist yet.
        default: false
        }
    }

    private mutating func skipText() -> Bool {
        guard let count = uint32(), let length = Int(exactly: count), length < bytes.count, pass(length)
        else { return false }
        return byte() == 0
    }
}

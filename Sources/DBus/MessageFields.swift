// SPDX-License-Identifier: LGPL-2.1-or-later

/// The fields of a message's header (D-Bus Specification, "Header Fields"): where each text is in the bytes of the
/// message, which is empty for a field that is not there.
struct MessageFields {
    var path = 0..<0
    var interface = 0..<0
    var member = 0..<0
    var errorName = 0..<0
    var destination = 0..<0
    var sender = 0..<0
    var signature = 0..<0
    /// The serial of the call that is answered, 0 for none.
    var replySerial: UInt32 = 0
    /// How many descriptors travel with the message.
    var descriptors: UInt32 = 0

    /// The numbers of the fields.
    enum Code {
        static let path: UInt8 = 1
        static let interface: UInt8 = 2
        static let member: UInt8 = 3
        static let errorName: UInt8 = 4
        static let replySerial: UInt8 = 5
        static let destination: UInt8 = 6
        static let sender: UInt8 = 7
        static let signature: UInt8 = 8
        static let descriptors: UInt8 = 9
        /// The greatest that libdbus knows, which nothing here reads.
        static let containerInstance: UInt8 = 10
    }

    /// How deep the content of a variant is in the header, which is an array of structures of a byte and a variant.
    private static let depthOfVariant = 2

    init() {}

    /// Reads the fields from the rest of `input`, and checks them as far as that does not depend on the kind of message.
    init(reading input: inout MarshalledInput) throws(DBusError) {
        var known: UInt16 = 0
        while input.offset < input.end {
            try input.align(8)
            let code = try input.byte()
            guard code != 0 else { throw .malformed("a field of the header has the number 0") }
            guard code <= Code.containerInstance else {
                try input.checkVariant(depth: Self.depthOfVariant)
                continue
            }
            guard known & 1 << code == 0 else { throw .malformed("a field of the header comes twice") }
            known |= 1 << code
            try read(code, from: &input)
        }
    }

    private mutating func read(_ code: UInt8, from input: inout MarshalledInput) throws(DBusError) {
        let type = try input.shortText()
        guard type.count == 1, input.bytes[type.lowerBound] == Self.type(of: code) else {
            throw .malformed("a field of the header has a wrong type")
        }
        switch code {
        case Code.path, Code.containerInstance:
            let range = try Self.text(&input, "the path", NameCheck.isPath)
            if code == Code.path { path = range }
        case Code.interface: interface = try Self.text(&input, "the interface", NameCheck.isInterface)
        case Code.member: member = try Self.text(&input, "the member", NameCheck.isMember)
        case Code.errorName: errorName = try Self.text(&input, "the error’s name", NameCheck.isInterface)
        case Code.destination: destination = try Self.text(&input, "the destination", NameCheck.isBusName)
        case Code.sender: sender = try Self.text(&input, "the sender", NameCheck.isBusName)
        case Code.signature:
            signature = try input.shortText()
            guard TypeGrammar.isValid(input.bytes.span.extracting(signature)) else {
                throw .malformed("the signature is none")
            }
        case Code.replySerial:
            replySerial = try input.integer()
            guard replySerial != 0 else { throw .malformed("it answers the serial number 0") }
        default: descriptors = try input.integer()
        }
    }

    private static func text(
        _ input: inout MarshalledInput, _ what: String, _ isValid: (Span<UInt8>) -> Bool
    ) throws(DBusError) -> Range<Int> {
        let range = try input.text()
        guard isValid(input.bytes.span.extracting(range)) else { throw .malformed("\(what) is no such name") }
        return range
    }

    private static func type(of code: UInt8) -> UInt8 {
        switch code {
        case Code.path, Code.containerInstance: TypeCode.objectPath
        case Code.signature: TypeCode.signature
        case Code.replySerial, Code.descriptors: TypeCode.uint32
        default: TypeCode.string
        }
    }
}

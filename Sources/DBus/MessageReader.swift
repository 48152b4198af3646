// SPDX-License-Identifier: LGPL-2.1-or-later

/// Reads the arguments of a message one after the other into Swift values.
///
/// Whatever the message holds, reading either yields a value of the requested type, or throws `InvalidArgs`,
/// which says what is there instead. The memory that is built from one message is bounded (``budget``).
package struct MessageReader {
    private var input: MarshalledInput
    private let message: Message
    private var place: Place

    /// What is read: the arguments of the message, or the contents of one of its containers.
    private struct Place {
        /// Where the types that are still to come are in the bytes; that of the elements in an array.
        var types: Range<Int>
        /// Where the array ends whose elements are read; nil if this is no array.
        var arrayEnd: Int?
    }

    /// How much memory may be built from one message, in estimated bytes.
    static let budget = 48 << 20

    /// Reads `message`, beginning with its first argument.
    package init(_ message: Message) {
        self.message = message
        input = message.input
        place = Place(types: message.typesOfInput)
    }

    /// Reads the next argument.
    package mutating func read<Type: DBusType>(_: Type.Type = Type.self) throws(DBusError) -> Type {
        try Type.read(from: &self)
    }

    /// Reads the next argument, a file descriptor, of which the caller becomes the owner.
    package mutating func readFileDescriptor() throws(DBusError) -> FileDescriptor {
        let number = try integer(TypeCode.fileDescriptor, "h", UInt32.self)
        guard let index = Int(exactly: number), index < message.descriptors.count,
            let descriptor = FileDescriptor(duplicating: message.descriptors[index])
        else { throw .invalidArgs("The file descriptor is missing.") }
        return descriptor
    }

    /// The type code of the next argument, 0 at the end.
    var nextType: UInt8 { isAtEnd ? TypeCode.invalid : input.bytes[place.types.lowerBound] }

    /// Whether there is no further argument.
    var isAtEnd: Bool { place.arrayEnd.map { input.offset >= $0 } ?? place.types.isEmpty }

    /// How many bytes are still to come of the array whose elements are read, 0 if this is no array.
    var bytesLeft: Int { place.arrayEnd.map { max(0, $0 - input.offset) } ?? 0 }

    /// Skips the next argument.
    mutating func skip() throws(DBusError) {
        var type = place.types.lowerBound
        try input.skipValue(&type)
        advance(to: type)
    }

    /// The type of the next argument, or of the elements if this reads an array, is behind.
    private mutating func advance(to type: Int) {
        if place.arrayEnd == nil { place.types = type..<max(type, place.types.upperBound) }
    }

    /// Where the type of the next argument ends.
    private var nextTypeEnd: Int {
        TypeGrammar.end(ofTypeAt: place.types.lowerBound, in: input.bytes, before: place.types.upperBound)
    }

    /// The signature of the next argument, or of the element type if this reads an array that is empty.
    var nextSignature: String { input.string(place.types.lowerBound..<nextTypeEnd) }

    /// Whether all that is still to come has the types `signature`; in an array, each element.
    private func holds(_ signature: String) -> Bool { input.holds(signature, at: place.types) }

    func spend(_ bytes: Int) throws(DBusError) {
        message.readingBudget -= bytes
        guard message.readingBudget >= 0 else {
            throw .limitsExceeded("The message holds more than \(Self.budget >> 20) MiB of values.")
        }
    }

    private func expect(_ type: UInt8, _ name: @autoclosure () -> String) throws(DBusError) {
        guard nextType == type else {
            let found = isAtEnd ? "nothing" : nextSignature
            throw .invalidArgs("Expected a value of type \(name()), found \(found).")
        }
    }

    mutating func integer<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: UInt8, _ name: String, _: Number.Type = Number.self
    ) throws(DBusError) -> Number {
        try expect(type, name)
        let value: Number = try input.integer()
        advance(to: place.types.lowerBound + 1)
        return value
    }

    mutating func string(_ type: UInt8, _ name: String) throws(DBusError) -> String {
        try expect(type, name)
        let range = type == TypeCode.signature ? try input.shortText() : try input.text()
        try spend(range.count)
        advance(to: place.types.lowerBound + 1)
        return input.string(range)
    }

    mutating func bytes() throws(DBusError) -> [UInt8] {
        let type = place.types.lowerBound
        guard nextType == TypeCode.array, input.bytes[type + 1] == TypeCode.byte else {
            let found = isAtEnd ? "nothing" : nextSignature
            throw .invalidArgs("Expected a value of type ay, found \(found).")
        }
        let end = try input.array(of: TypeCode.byte)
        try spend(end - input.offset)
        let bytes = Array(input.bytes[input.offset..<end])
        input.offset = end
        advance(to: type + 2)
        return bytes
    }

    /// Reads the next argument as it is if it is properties in the byte order of what is made here, without descriptors; otherwise
    /// nothing is read.
    /// - Returns: nil if nothing was read.
    mutating func packedProperties() throws(DBusError) -> PackedProperties? {
        guard place.arrayEnd == nil, !input.isBigEndian, message.descriptors.isEmpty,
            input.holds("a{sv}", at: place.types.lowerBound..<nextTypeEnd)
        else { return nil }
        try message.checkBody()
        let lengthStart = (input.offset + 3) & ~3
        let entriesStart = (lengthStart + 4 + 7) & ~7
        try skip()
        try spend(input.offset - lengthStart)
        return PackedProperties(checked: input.bytes[entriesStart..<input.offset])
    }

    /// Reads the next argument, a container of `type`, by letting `body` read its contents. What that leaves unread is
    /// skipped.
    mutating func container<Result>(
        _ type: UInt8, _ name: @autoclosure () -> String,
        _ body: (inout MessageReader) throws(DBusError) -> Result
    ) throws(DBusError) -> Result {
        try expect(type, name())
        let (outer, start, end) = (place, input.offset, nextTypeEnd)
        do throws(DBusError) {
            place = try enter(type, before: end)
            let result = try body(&self)
            if let arrayEnd = place.arrayEnd {
                input.offset = arrayEnd
            } else {
                while !isAtEnd { try skip() }
            }
            place = outer
            advance(to: end)
            return result
        } catch {
            (place, input.offset) = (outer, start)
            throw error
        }
    }

    /// Passes over what a container has in front of its contents, and finds out where these are.
    private mutating func enter(_ type: UInt8, before end: Int) throws(DBusError) -> Place {
        let contents = place.types.lowerBound + 1
        switch type {
        case TypeCode.variant: return Place(types: try input.shortText())
        case TypeCode.array:
            return Place(types: contents..<end, arrayEnd: try input.array(of: input.bytes[contents]))
        default:
            try input.align(8)
            return Place(types: contents..<end - 1)
        }
    }

    /// Reads the next argument, an array whose elements have the type `signature`, by calling `body` for each.
    mutating func elements(
        of signature: String, _ body: (inout MessageReader) throws(DBusError) -> Void
    ) throws(DBusError) {
        try container(TypeCode.array, "a" + signature) { (reader) throws(DBusError) in
            guard reader.holds(signature) else {
                throw .invalidArgs("Expected a value of type a\(signature), found a\(reader.nextSignature).")
            }
            while !reader.isAtEnd { try body(&reader) }
        }
    }

    /// Reads the next argument, a variant, by letting `body` read its content, which must have the type
    /// `signature`.
    package mutating func variant<Result>(
        _ signature: String, _ body: (inout MessageReader) throws(DBusError) -> Result
    ) throws(DBusError) -> Result {
        try container(TypeCode.variant, "v") { (reader) throws(DBusError) in
            guard reader.holds(signature) else {
                throw .invalidArgs("Expected a value of type \(signature), found \(reader.nextSignature).")
            }
            return try body(&reader)
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

extension MessageReader {
    /// Reads the next argument, of whatever type it is.
    ///
    /// - Throws: `InvalidArgs` if it holds a file descriptor.
    package mutating func readAnyValue() throws(DBusError) -> Value {
        try spend(32)
        switch nextType {
        case TypeCode.byte: return .byte(try read())
        case TypeCode.boolean: return .boolean(try read())
        case TypeCode.int16: return .int16(try read())
        case TypeCode.uint16: return .uint16(try read())
        case TypeCode.int32: return .int32(try read())
        case TypeCode.uint32: return .uint32(try read())
        case TypeCode.int64: return .int64(try read())
        case TypeCode.uint64: return .uint64(try read())
        case TypeCode.double: return .double(try read())
        case TypeCode.string: return .string(try read())
        case TypeCode.objectPath: return .objectPath(try read())
        case TypeCode.signature: return .signature(try read())
        case TypeCode.variant: return .variant(try read())
        case TypeCode.array: return try readArray()
        case TypeCode.structure:
            return try container(TypeCode.structure, "a structure") { (reader) throws(DBusError) in
                var fields: [Value] = []
                while !reader.isAtEnd { fields.append(try reader.readAnyValue()) }
                return .structure(StructureValue(checked: fields))
            }
        case TypeCode.invalid: throw .invalidArgs("An argument is missing.")
        case TypeCode.fileDescriptor: throw .invalidArgs("A file descriptor (type h) is not allowed here.")
        default: throw .invalidArgs("A value of type \(nextSignature) is not allowed here.")
        }
    }

    private mutating func readArray() throws(DBusError) -> Value {
        let signature = nextSignature
        if signature == "ay" { return .bytes(try bytes()) }
        // The type of a descriptor must not be let in, even where the array that names it is empty.
        guard !signature.utf8.contains(UInt8(ascii: "h")) else {
            throw .invalidArgs("A file descriptor (type h, in \(signature)) is not allowed here.")
        }
        if signature.hasPrefix("a{") { return try readDictionary(String(signature.dropFirst(2).dropLast())) }
        return try container(TypeCode.array, signature) { (reader) throws(DBusError) in
            var elements: [Value] = []
            while !reader.isAtEnd { elements.append(try reader.readAnyValue()) }
            return .array(ArrayValue(checkedSignature: String(signature.dropFirst()), elements))
        }
    }

    /// `types` consists of the key's type, one character, and the value's type.
    private mutating func readDictionary(_ types: String) throws(DBusError) -> Value {
        try container(TypeCode.array, "a{\(types)}") { (reader) throws(DBusError) in
            var entries: [DictionaryValue.Entry] = []
            while !reader.isAtEnd {
                entries.append(
                    try reader.container(TypeCode.dictionaryEntry, "{\(types)}") {
                        (reader) throws(DBusError) in
                        let key = try reader.readAnyValue()
                        do throws(DBusError) {
                            return DictionaryValue.Entry(key: key, value: try reader.readAnyValue())
                        } catch {
                            throw error.at("entry \(key.string.map { "“\($0.prefix(64))”" } ?? "\(key)")")
                        }
                    })
            }
            return .dictionary(
                DictionaryValue(
                    checkedKey: String(types.prefix(1)), checkedValue: String(types.dropFirst()), entries))
        }
    }
}

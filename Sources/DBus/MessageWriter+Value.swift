// SPDX-License-Identifier: LGPL-2.1-or-later

extension MessageWriter {
    /// Appends `value` directly, not in a variant.
    package mutating func writeContent(of value: Value) throws(DBusError) {
        switch value {
        case .byte(let value): try integer(TypeCode.byte, value)
        case .boolean(let value): try integer(TypeCode.boolean, UInt32(value ? 1 : 0))
        case .int16(let value): try integer(TypeCode.int16, value)
        case .uint16(let value): try integer(TypeCode.uint16, value)
        case .int32(let value): try integer(TypeCode.int32, value)
        case .uint32(let value): try integer(TypeCode.uint32, value)
        case .int64(let value): try integer(TypeCode.int64, value)
        case .uint64(let value): try integer(TypeCode.uint64, value)
        case .double(let value): try integer(TypeCode.double, value.bitPattern)
        case .string(let text): try string(TypeCode.string, text)
        case .objectPath(let path): try string(TypeCode.objectPath, path.text)
        case .signature(let signature): try string(TypeCode.signature, signature.text)
        case .bytes(let array): try bytes(array)
        case .array(let array): try writeArray(array)
        case .dictionary(let dictionary): try writeDictionary(dictionary)
        case .structure(let structure):
            try self.structure(value.typeSignature) { (writer) throws(DBusError) in
                for field in structure.fields { try writer.writeContent(of: field) }
            }
        case .variant(let content): try writeVariant(content)
        }
    }

    /// Appends a variant that holds `content`.
    mutating func writeVariant(_ content: Value) throws(DBusError) {
        let signature = content.typeSignature
        // Each value is well-formed, yet structures and arrays together may nest too deeply for a signature.
        guard signature.utf8.count == 1 || Signature.isSingle(signature) else {
            throw .invalidArgs("A value of \(signature.utf8.count) type codes nests too deeply for D-Bus.")
        }
        try variant(holding: signature) { (writer) throws(DBusError) in
            try writer.writeContent(of: content)
        }
    }

    private mutating func writeArray(_ array: ArrayValue) throws(DBusError) {
        try self.array(array.elementSignature) { (writer) throws(DBusError) in
            for element in array.elements { try writer.writeContent(of: element) }
        }
    }

    private mutating func writeDictionary(_ dictionary: DictionaryValue) throws(DBusError) {
        let entry = "{\(dictionary.keySignature)\(dictionary.valueSignature)}"
        try self.dictionary(entry) { (writer) throws(DBusError) in
            for element in dictionary.entries {
                try writer.entry { (writer) throws(DBusError) in
                    try writer.writeContent(of: element.key)
                    try writer.writeContent(of: element.value)
                }
            }
        }
    }
}

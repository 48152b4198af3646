// SPDX-License-Identifier: LGPL-2.1-or-later

// What a type does here is documented at the protocols.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

extension Array: DBusType where Element: DBusType {
    package static var typeSignature: String { "a" + Element.typeSignature }

    package static func read(from reader: inout MessageReader) throws(DBusError) -> [Element] {
        if Element.self == UInt8.self, let bytes = try reader.bytes() as? [Element] { return bytes }
        var result: [Element] = []
        try reader.elements(of: Element.typeSignature) { (reader) throws(DBusError) in
            try reader.spend(MemoryLayout<Element>.stride)
            result.append(try reader.read())
        }
        return result
    }

    package func write(to writer: inout MessageWriter) throws(DBusError) {
        if Element.self == UInt8.self, let bytes = self as? [UInt8] { return try writer.bytes(bytes) }
        try writer.array(Element.typeSignature) { (writer) throws(DBusError) in
            for element in self { try writer.write(element) }
        }
    }
}

extension Dictionary: DBusType where Key: DBusBasicType, Value: DBusType {
    package static var typeSignature: String { "a" + entrySignature }
    private static var entrySignature: String { "{" + Key.typeSignature + Value.typeSignature + "}" }

    /// If a key comes twice, the last entry counts.
    @specialized(where Key == String, Value == DBus.Value)
    package static func read(from reader: inout MessageReader) throws(DBusError) -> [Key: Value] {
        var result: [Key: Value] = [:]
        try reader.elements(of: entrySignature) { (reader) throws(DBusError) in
            // So that it grows once. An entry of the shortest strings takes about as many bytes.
            if result.isEmpty { result.reserveCapacity(Swift.min(reader.bytesLeft / 24 + 1, 64)) }
            try reader.spend(2 * (MemoryLayout<Key>.stride + MemoryLayout<Value>.stride))
            try reader.container(TypeCode.dictionaryEntry, entrySignature) { (reader) throws(DBusError) in
                let key: Key = try reader.read()
                do throws(DBusError) {
                    result[key] = try reader.read(Value.self)
                } catch {
                    throw error.at("“\(key)”")
                }
            }
        }
        return result
    }

    @specialized(where Key == String, Value == DBus.Value)
    package func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.dictionary(Self.entrySignature) { (writer) throws(DBusError) in
            for (key, value) in self {
                try writer.entry { (writer) throws(DBusError) in
                    try writer.write(key)
                    try writer.write(value)
                }
            }
        }
    }
}

/// A D-Bus structure with typed fields, e.g. `Structure<String, UInt32>` for `(su)`.
package struct Structure<each Field: DBusType>: DBusType {
    /// The fields, in order.
    package let fields: (repeat each Field)

    /// A structure of `fields`, of which there must be at least one for D-Bus to carry it.
    package init(_ fields: repeat each Field) { self.fields = (repeat each fields) }

    package static var typeSignature: String {
        var signature = "("
        for type in repeat (each Field).self { signature += type.typeSignature }
        return signature + ")"
    }

    package static func read(from reader: inout MessageReader) throws(DBusError) -> Structure {
        try reader.container(TypeCode.structure, typeSignature) { (reader) throws(DBusError) in
            let structure = Structure(repeat try reader.read((each Field).self))
            guard reader.isAtEnd else {
                throw .invalidArgs("Expected a value of type \(typeSignature), found one with more fields.")
            }
            return structure
        }
    }

    package func write(to writer: inout MessageWriter) throws(DBusError) {
        guard Self.typeSignature.utf8.count > 2 else {
            throw .invalidArgs("A structure has at least one field.")
        }
        try writer.structure(Self.typeSignature) { (writer) throws(DBusError) in
            for field in repeat each fields { try writer.write(field) }
        }
    }
}

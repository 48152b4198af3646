// SPDX-License-Identifier: LGPL-2.1-or-later

// What a type does here is documented at the protocols.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// A Swift type that stands for one D-Bus type and goes straight to and from messages.
package protocol DBusType: Sendable {
    /// The signature of its D-Bus type: one complete type.
    static var typeSignature: String { get }
    /// Reads the next argument.
    /// - Throws: `InvalidArgs` if it has another type.
    static func read(from reader: inout MessageReader) throws(DBusError) -> Self
    /// Appends this.
    /// - Throws: `InvalidArgs` or `LimitsExceeded` if D-Bus has no way to carry it.
    func write(to writer: inout MessageWriter) throws(DBusError)
}

/// A type that can be the key of a dictionary.
package protocol DBusBasicType: DBusType, Hashable {}

/// A whole number.
package protocol DBusNumber: DBusBasicType, FixedWidthInteger, BitwiseCopyable {
    /// The code of its type in signatures.
    static var typeCode: UInt8 { get }
}

extension DBusNumber {
    package static func read(from reader: inout MessageReader) throws(DBusError) -> Self {
        try reader.integer(typeCode, typeSignature)
    }
    package func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.integer(Self.typeCode, self)
    }
}

extension UInt8: DBusNumber {
    package static var typeSignature: String { "y" }
    package static var typeCode: UInt8 { TypeCode.byte }
}

extension Bool: DBusBasicType {
    package static var typeSignature: String { "b" }
    package static func read(from reader: inout MessageReader) throws(DBusError) -> Bool {
        try reader.integer(TypeCode.boolean, "b", UInt32.self) != 0
    }
    package func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.integer(TypeCode.boolean, UInt32(self ? 1 : 0))
    }
}

extension Int16: DBusNumber {
    package static var typeSignature: String { "n" }
    package static var typeCode: UInt8 { TypeCode.int16 }
}

extension UInt16: DBusNumber {
    package static var typeSignature: String { "q" }
    package static var typeCode: UInt8 { TypeCode.uint16 }
}

extension Int32: DBusNumber {
    package static var typeSignature: String { "i" }
    package static var typeCode: UInt8 { TypeCode.int32 }
}

extension UInt32: DBusNumber {
    package static var typeSignature: String { "u" }
    package static var typeCode: UInt8 { TypeCode.uint32 }
}

extension Int64: DBusNumber {
    package static var typeSignature: String { "x" }
    package static var typeCode: UInt8 { TypeCode.int64 }
}

extension UInt64: DBusNumber {
    package static var typeSignature: String { "t" }
    package static var typeCode: UInt8 { TypeCode.uint64 }
}

extension Double: DBusBasicType {
    package static var typeSignature: String { "d" }
    package static func read(from reader: inout MessageReader) throws(DBusError) -> Double {
        Double(bitPattern: try reader.integer(TypeCode.double, "d"))
    }
    package func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.integer(TypeCode.double, bitPattern)
    }
}

extension String: DBusBasicType {
    package static var typeSignature: String { "s" }
    package static func read(from reader: inout MessageReader) throws(DBusError) -> String {
        try reader.string(TypeCode.string, "s")
    }
    package func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.string(TypeCode.string, self)
    }
}

extension ObjectPath: DBusType, DBusBasicType where Grammar == ObjectPathGrammar {
    package static var typeSignature: String { "o" }
    package static func read(from reader: inout MessageReader) throws(DBusError) -> ObjectPath {
        ObjectPath(validated: try reader.string(TypeCode.objectPath, "o"))
    }
    package func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.string(TypeCode.objectPath, text)
    }
}

extension Signature: DBusBasicType {
    package static var typeSignature: String { "g" }
    package static func read(from reader: inout MessageReader) throws(DBusError) -> Signature {
        Signature(validated: try reader.string(TypeCode.signature, "g"))
    }
    package func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.string(TypeCode.signature, text)
    }
}

/// A `Value` as an argument is a variant.
extension Value: DBusType {
    package static var typeSignature: String { "v" }
    package static func read(from reader: inout MessageReader) throws(DBusError) -> Value {
        try reader.container(TypeCode.variant, "v") { (reader) throws(DBusError) in try reader.readAnyValue()
        }
    }
    package func write(to writer: inout MessageWriter) throws(DBusError) { try writer.writeVariant(self) }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

// What a type does here is documented at the protocols.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

internal import CDBus

/// A Swift type that stands for one D-Bus type and goes straight to and from messages.
public protocol DBusType: Sendable {
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
public protocol DBusBasicType: DBusType, Hashable {}

extension UInt8: DBusBasicType {
    public static var typeSignature: String { "y" }
    public static func read(from reader: inout MessageReader) throws(DBusError) -> UInt8 {
        try reader.basic(TypeCode.byte, "y", 0)
    }
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic(TypeCode.byte, self)
    }
}

extension Bool: DBusBasicType {
    public static var typeSignature: String { "b" }
    public static func read(from reader: inout MessageReader) throws(DBusError) -> Bool {
        try reader.basic(TypeCode.boolean, "b", dbus_bool_t(0)) != 0
    }
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic(TypeCode.boolean, self ? dbus_bool_t(1) : 0)
    }
}

extension Int16: DBusBasicType {
    public static var typeSignature: String { "n" }
    public static func read(from reader: inout MessageReader) throws(DBusError) -> Int16 {
        try reader.basic(TypeCode.int16, "n", 0)
    }
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic(TypeCode.int16, self)
    }
}

extension UInt16: DBusBasicType {
    public static var typeSignature: String { "q" }
    public static func read(from reader: inout MessageReader) throws(DBusError) -> UInt16 {
        try reader.basic(TypeCode.uint16, "q", 0)
    }
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic(TypeCode.uint16, self)
    }
}

extension Int32: DBusBasicType {
    public static var typeSignature: String { "i" }
    public static func read(from reader: inout MessageReader) throws(DBusError) -> Int32 {
        try reader.basic(TypeCode.int32, "i", 0)
    }
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic(TypeCode.int32, self)
    }
}

extension UInt32: DBusBasicType {
    public static var typeSignature: String { "u" }
    public static func read(from reader: inout MessageReader) throws(DBusError) -> UInt32 {
        try reader.basic(TypeCode.uint32, "u", 0)
    }
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic(TypeCode.uint32, self)
    }
}

extension Int64: DBusBasicType {
    public static var typeSignature: String { "x" }
    public static func read(from reader: inout MessageReader) throws(DBusError) -> Int64 {
        try reader.basic(TypeCode.int64, "x", 0)
    }
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic(TypeCode.int64, self)
    }
}

extension UInt64: DBusBasicType {
    public static var typeSignature: String { "t" }
    public static func read(from reader: inout MessageReader) throws(DBusError) -> UInt64 {
        try reader.basic(TypeCode.uint64, "t", 0)
    }
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic(TypeCode.uint64, self)
    }
}

extension Double: DBusBasicType {
    public static var typeSignature: String { "d" }
    public static func read(from reader: inout MessageReader) throws(DBusError) -> Double {
        try reader.basic(TypeCode.double, "d", 0)
    }
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic(TypeCode.double, self)
    }
}

extension String: DBusBasicType {
    public static var typeSignature: String { "s" }
    public static func read(from reader: inout MessageReader) throws(DBusError) -> String {
        try reader.string(TypeCode.string, "s")
    }
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.string(TypeCode.string, self)
    }
}

extension ObjectPath: DBusType, DBusBasicType where Grammar == ObjectPathGrammar {
    public static var typeSignature: String { "o" }
    public static func read(from reader: inout MessageReader) throws(DBusError) -> ObjectPath {
        ObjectPath(validated: try reader.string(TypeCode.objectPath, "o"))
    }
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.string(TypeCode.objectPath, text)
    }
}

extension Signature: DBusBasicType {
    public static var typeSignature: String { "g" }
    public static func read(from reader: inout MessageReader) throws(DBusError) -> Signature {
        Signature(validated: try reader.string(TypeCode.signature, "g"))
    }
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.string(TypeCode.signature, text)
    }
}

/// A `Value` as an argument is a variant.
extension Value: DBusType {
    public static var typeSignature: String { "v" }
    public static func read(from reader: inout MessageReader) throws(DBusError) -> Value {
        try reader.container(TypeCode.variant, "v") { (reader) throws(DBusError) in try reader.readAnyValue()
        }
    }
    public func write(to writer: inout MessageWriter) throws(DBusError) { try writer.writeVariant(self) }
}

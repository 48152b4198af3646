// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus

/// Reads the arguments of a message one after the other into Swift values.
///
/// Whatever the message holds, reading either yields a value of the requested type, or throws `InvalidArgs`,
/// which says what is there instead. The memory that is built from one message is bounded (``budget``).
public struct MessageReader {
    private var iterator = DBusMessageIter()
    private let message: Message
    private var hasArguments: Bool

    /// How much memory may be built from one message, in estimated bytes.
    static let budget = 48 << 20

    /// Reads `message`, beginning with its first argument.
    public init(_ message: Message) {
        self.message = message
        hasArguments = dbus_message_iter_init(message.raw, &iterator) != 0
    }

    /// Reads the next argument.
    public mutating func read<Type: DBusType>(_: Type.Type = Type.self) throws(DBusError) -> Type {
        try Type.read(from: &self)
    }

    /// Reads the next argument, a file descriptor, of which the caller becomes the owner.
    public mutating func readFileDescriptor() throws(DBusError) -> FileDescriptor {
        var number: Int32 = -1
        try expect(TypeCode.fileDescriptor, "h")
        dbus_message_iter_get_basic(&iterator, &number)
        _ = dbus_message_iter_next(&iterator)
        guard number >= 0 else { throw .invalidArgs("The file descriptor is missing.") }
        return FileDescriptor(owning: number)
    }

    /// The type code of the next argument, 0 at the end.
    var nextType: Int32 { mutating get { dbus_message_iter_get_arg_type(&iterator) } }

    /// Whether there is no further argument.
    var isAtEnd: Bool { mutating get { nextType == TypeCode.invalid } }

    /// Skips the next argument.
    mutating func skip() { _ = dbus_message_iter_next(&iterator) }

    /// The signature of the next argument, or of the element type if this reads an array that is empty.
    var nextSignature: String {
        mutating get {
            guard let text = dbus_message_iter_get_signature(&iterator) else { return "" }
            defer { dbus_free(text) }
            return String(cString: text)
        }
    }

    func spend(_ bytes: Int) throws(DBusError) {
        message.readingBudget -= bytes
        guard message.readingBudget >= 0 else {
            throw .limitsExceeded("The message holds more than \(Self.budget >> 20) MiB of values.")
        }
    }

    private mutating func expect(_ type: Int32, _ name: @autoclosure () -> String) throws(DBusError) {
        guard nextType == type else {
            let found = isAtEnd ? "nothing" : nextSignature
            throw .invalidArgs("Expected a value of type \(name()), found \(found).")
        }
    }

    mutating func basic<Raw: BitwiseCopyable>(_ type: Int32, _ name: String, _ zero: Raw) throws(DBusError)
        -> Raw
    {
        try expect(type, name)
        var value = zero
        dbus_message_iter_get_basic(&iterator, &value)
        _ = dbus_message_iter_next(&iterator)
        return value
    }

    mutating func string(_ type: Int32, _ name: String) throws(DBusError) -> String {
        try expect(type, name)
        var pointer: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(&iterator, &pointer)
        // libdbus has checked that it is UTF-8.
        let text = pointer.map { String(cString: $0) } ?? ""
        try spend(text.utf8.count)
        _ = dbus_message_iter_next(&iterator)
        return text
    }

    mutating func bytes() throws(DBusError) -> [UInt8] {
        guard nextType == TypeCode.array, dbus_message_iter_get_element_type(&iterator) == TypeCode.byte
        else {
            let found = isAtEnd ? "nothing" : nextSignature
            throw .invalidArgs("Expected a value of type ay, found \(found).")
        }
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        var start: UnsafePointer<UInt8>?
        var count: Int32 = 0
        if dbus_message_iter_get_arg_type(&inner) == TypeCode.byte {
            dbus_message_iter_get_fixed_array(&inner, &start, &count)
        }
        try spend(Int(count))
        _ = dbus_message_iter_next(&iterator)
        return Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    /// Reads the next argument, a container of `type`, by letting `body` read its contents.
    mutating func container<Result>(
        _ type: Int32, _ name: @autoclosure () -> String,
        _ body: (inout MessageReader) throws(DBusError) -> Result
    ) throws(DBusError) -> Result {
        try expect(type, name())
        var inner = self
        dbus_message_iter_recurse(&iterator, &inner.iterator)
        let result = try body(&inner)
        _ = dbus_message_iter_next(&iterator)
        return result
    }

    /// Reads the next argument, an array whose elements have the type `signature`, by calling `body` for each.
    mutating func elements(
        of signature: String, _ body: (inout MessageReader) throws(DBusError) -> Void
    ) throws(DBusError) {
        try container(TypeCode.array, "a" + signature) { (reader) throws(DBusError) in
            guard reader.nextSignature == signature else {
                throw .invalidArgs("Expected a value of type a\(signature), found a\(reader.nextSignature).")
            }
            while !reader.isAtEnd { try body(&reader) }
        }
    }

    /// Reads the next argument, a variant, by letting `body` read its content, which must have the type
    /// `signature`.
    public mutating func variant<Result>(
        _ signature: String, _ body: (inout MessageReader) throws(DBusError) -> Result
    ) throws(DBusError) -> Result {
        try container(TypeCode.variant, "v") { (reader) throws(DBusError) in
            guard reader.nextSignature == signature else {
                throw .invalidArgs("Expected a value of type \(signature), found \(reader.nextSignature).")
            }
            return try body(&reader)
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus

/// Appends arguments to a message that has not been sent yet.
///
/// Refuses anything that would cause libdbus to end the process, and whatever is nested more deeply than a
/// bus allows: a bus disconnects the *sender* of such a message. After an error the message must be thrown
/// away.
public struct MessageWriter {
    private var iterator = DBusMessageIter()
    private let message: Message
    private var depth = 0

    /// How many arrays, dictionary entries, structures and variants may be nested, each counted. The bus
    /// allows 64.
    public static let maximumDepth = 64
    /// How many bytes a body may take. libdbus ends the process if an array is longer than this (D-Bus
    /// Specification, "Marshaling"), so no body may be longer; the count errs on the large side.
    public static let maximumLength = 1 << 26

    /// Appends after what `message` holds already.
    public init(_ message: Message) {
        self.message = message
        dbus_message_iter_init_append(message.raw, &iterator)
    }

    /// Appends `value`.
    public mutating func write(_ value: some DBusType) throws(DBusError) { try value.write(to: &self) }

    /// Appends a duplicate of `descriptor`.
    public mutating func write(_ descriptor: borrowing FileDescriptor) throws(DBusError) {
        var number = descriptor.number
        try begin("h")
        guard dbus_message_iter_append_basic(&iterator, TypeCode.fileDescriptor, &number) != 0 else {
            throw .noMemory()
        }
    }

    /// Counts `bytes` that are about to be appended, padding included.
    private func spend(_ bytes: Int) throws(DBusError) {
        message.written += bytes
        guard message.written <= Self.maximumLength else {
            throw .limitsExceeded("The message would be longer than 64 MiB.")
        }
    }

    /// Counts the type of the next argument, if it belongs to the message itself and is not within another
    /// one: a bus disconnects whoever sends a signature that is too long or nests too deeply.
    private func begin(_ signature: @autoclosure () -> String) throws(DBusError) {
        guard depth == 0 else { return }
        let signature = signature()
        message.typeCodes += signature.utf8.count
        guard message.typeCodes <= 255 else {
            throw .limitsExceeded("The arguments' signature would be longer than 255 characters.")
        }
        // Each value is well-formed, yet structures and arrays together may nest too deeply for a signature.
        guard signature.utf8.count == 1 || Signature.isSingle(signature) else {
            throw .invalidArgs("A value of \(signature.utf8.count) type codes nests too deeply for D-Bus.")
        }
    }

    mutating func basic<Raw: BitwiseCopyable>(_ type: Int32, _ value: Raw) throws(DBusError) {
        try begin("-")
        try spend(2 * MemoryLayout<Raw>.size)
        var value = value
        guard dbus_message_iter_append_basic(&iterator, type, &value) != 0 else { throw .noMemory() }
    }

    mutating func string(_ type: Int32, _ text: String) throws(DBusError) {
        // A Swift string is valid UTF-8; the one thing that D-Bus forbids besides is NUL.
        guard !text.holdsNUL else { throw .invalidArgs("A string holds a NUL character.") }
        try begin("-")
        try spend(text.utf8.count + 8)
        let done = text.withCString { pointer in
            var pointer: UnsafePointer<CChar>? = pointer
            return dbus_message_iter_append_basic(&iterator, type, &pointer)
        }
        guard done != 0 else { throw .noMemory() }
    }

    mutating func bytes(_ bytes: [UInt8]) throws(DBusError) {
        try spend(bytes.count)
        try array("y") { (writer) throws(DBusError) in
            let done = bytes.withUnsafeBufferPointer { buffer in
                var start = buffer.baseAddress
                return dbus_message_iter_append_fixed_array(
                    &writer.iterator, TypeCode.byte, &start, Int32(buffer.count))
            }
            guard done != 0 || bytes.isEmpty else { throw .noMemory() }
        }
    }

    /// Appends an array of elements of the type `element`, which `body` writes.
    mutating func array(
        _ element: String, _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try begin("a" + element)
        try container(TypeCode.array, element, body)
    }

    /// Appends a structure of the type `signature`, whose fields `body` writes.
    mutating func structure(
        _ signature: @autoclosure () -> String, _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try begin(signature())
        try container(TypeCode.structure, nil, body)
    }

    /// Appends a variant that holds a value of the type `signature`, one complete type, which `body` writes.
    mutating func variant(
        holding signature: String, _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try begin("v")
        try container(TypeCode.variant, signature, body)
    }

    /// Appends an array, dictionary entry, structure or variant, whose contents `body` writes. `contents` must
    /// be a valid signature of the contents (of one complete type for an array and a variant).
    private mutating func container(
        _ type: Int32, _ contents: String?, _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard depth < Self.maximumDepth else {
            throw .invalidArgs("The value nests more than \(Self.maximumDepth) containers.")
        }
        try spend((contents?.utf8.count ?? 0) + 16)
        var inner = self
        inner.depth += 1
        let opened = withOptional(contents) {
            dbus_message_iter_open_container(&iterator, type, $0, &inner.iterator)
        }
        guard opened != 0 else { throw .noMemory() }
        do throws(DBusError) {
            try body(&inner)
        } catch {
            dbus_message_iter_abandon_container(&iterator, &inner.iterator)
            throw error
        }
        guard dbus_message_iter_close_container(&iterator, &inner.iterator) != 0 else { throw .noMemory() }
    }

    /// Appends a variant that holds a value of the type `signature`, which `body` writes.
    public mutating func variant(
        _ signature: Signature, _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard Signature.isSingle(signature.text) else {
            throw .invalidArgs("A variant holds one complete type, not “\(signature)”.")
        }
        try variant(holding: signature.text, body)
    }

    /// Appends an array whose elements have the type `signature` and are written by `body`.
    public mutating func array(
        of signature: Signature, _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard Signature.isSingle("a" + signature.text) else {
            throw .invalidArgs("“\(signature)” is not the type of an array's elements.")
        }
        try array(signature.text, body)
    }

    /// Appends a structure with the fields `signature`, which `body` writes.
    public mutating func structure(
        of signature: Signature, _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard !signature.text.isEmpty else { throw .invalidArgs("A structure has at least one field.") }
        try structure("(\(signature))", body)
    }

    /// Appends a dictionary `a{…}` of `entry`'s type, whose entries `body` writes with ``entry(_:)``.
    mutating func dictionary(
        _ entry: String, _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try array(entry, body)
    }

    /// Appends one entry of a dictionary: `body` writes key and value.
    mutating func entry(_ body: (inout MessageWriter) throws(DBusError) -> Void) throws(DBusError) {
        try container(TypeCode.dictionaryEntry, nil, body)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// Appends arguments to a message that has not been sent yet.
///
/// Refuses whatever is nested more deeply, or is longer, than a bus allows: a bus disconnects the *sender* of such a
/// message. After an error the message must be thrown away.
package struct MessageWriter {
    private let message: Message
    private var depth = 0

    /// How many arrays, dictionary entries, structures and variants may be nested, each counted. The bus
    /// allows 64.
    package static let maximumDepth = 64
    /// How many bytes a body may take: as many as an array (D-Bus Specification, "Marshaling"), so that none of its
    /// arrays can be too long.
    package static let maximumLength = 1 << 26

    /// Appends after what `message` holds already, which must have been made here.
    package init(_ message: Message) { self.message = message }

    /// Appends `value`.
    package mutating func write(_ value: some DBusType) throws(DBusError) { try value.write(to: &self) }

    /// Appends a duplicate of `descriptor`.
    package mutating func write(_ descriptor: borrowing FileDescriptor) throws(DBusError) {
        guard let duplicate = FileDescriptor(duplicating: descriptor.number) else { throw .noMemory() }
        let index = UInt32(message.descriptors.count)
        message.descriptors.append(duplicate.take())
        try integer(TypeCode.fileDescriptor, index)
    }

    /// Makes sure that there is room for `bytes` more, besides padding and lengths.
    private func reserve(_ bytes: Int) throws(DBusError) {
        guard message.body.bytes.count + bytes + 16 <= Self.maximumLength else {
            throw .limitsExceeded("The message would be longer than 64 MiB.")
        }
    }

    /// Notes the basic type of the next argument, if it belongs to the message itself and is not within another one.
    private func begin(_ code: UInt8) throws(DBusError) {
        guard depth == 0 else { return }
        guard message.types.count < TypeGrammar.maximumLength else { throw Self.longSignature }
        message.types.append(code)
    }

    /// Notes the type of the next argument, a container, in the same way: a bus disconnects whoever sends a signature that
    /// is too long or nests too deeply.
    private func begin(container signature: @autoclosure () -> String) throws(DBusError) {
        guard depth == 0 else { return }
        let signature = signature()
        guard message.types.count + signature.utf8.count <= TypeGrammar.maximumLength else {
            throw Self.longSignature
        }
        // Each value is well-formed, yet structures and arrays together may nest too deeply for a signature.
        guard signature.utf8.count == 1 || Signature.isSingle(signature) else {
            throw .invalidArgs("A value of \(signature.utf8.count) type codes nests too deeply for D-Bus.")
        }
        message.types.append(contentsOf: signature.utf8)
    }

    private static var longSignature: DBusError {
        .limitsExceeded("The arguments' signature would be longer than 255 characters.")
    }

    /// Appends a dictionary of the type `signature` that has `entries`, as bytes from a message, unless it would be within another
    /// value: that may be nested too deeply.
    /// - Returns: whether it was appended.
    mutating func copy(entries: ArraySlice<UInt8>, of signature: String) throws(DBusError) -> Bool {
        guard depth == 0 else { return false }
        try begin(container: signature)
        try reserve(entries.count)
        message.body.append(integer: UInt32(truncatingIfNeeded: entries.count))
        message.body.align(8)
        message.body.append(entries)
        return true
    }

    mutating func integer(
        _ type: UInt8, _ value: some FixedWidthInteger & BitwiseCopyable
    ) throws(DBusError) {
        try begin(type)
        try reserve(8)
        message.body.append(integer: value)
    }

    mutating func string(_ type: UInt8, _ text: String) throws(DBusError) {
        // A Swift string is valid UTF-8; the one thing that D-Bus forbids besides is NUL.
        guard !text.holdsNUL else { throw .invalidArgs("A string holds a NUL character.") }
        try begin(type)
        try reserve(text.utf8.count)
        if type == TypeCode.signature {
            message.body.append(signature: text)
        } else {
            message.body.append(text: text)
        }
    }

    mutating func bytes(_ bytes: [UInt8]) throws(DBusError) {
        try array("y") { (writer) throws(DBusError) in
            try writer.reserve(bytes.count)
            writer.message.body.append(bytes)
        }
    }

    /// Appends an array of elements of the type `element`, which `body` writes.
    mutating func array(
        _ element: String, _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try begin(container: "a" + element)
        try reserve(0)
        message.body.append(integer: UInt32(0))
        let length = message.body.bytes.count - 4
        message.body.align(TypeCode.alignment(of: element.utf8.first ?? TypeCode.invalid))
        let start = message.body.bytes.count
        try nest(body)
        message.body.replace(
            at: length, with: UInt32(truncatingIfNeeded: message.body.bytes.count - start))
    }

    /// Appends a structure of the type `signature`, whose fields `body` writes.
    mutating func structure(
        _ signature: @autoclosure () -> String, _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try begin(container: signature())
        message.body.align(8)
        try nest(body)
    }

    /// Appends a variant that holds a value of the type `signature`, one complete type, which `body` writes.
    mutating func variant(
        holding signature: String, _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try begin(TypeCode.variant)
        try reserve(signature.utf8.count)
        message.body.append(signature: signature)
        try nest(body)
    }

    /// Lets `body` write the contents of an array, dictionary entry, structure or variant.
    private mutating func nest(
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard depth < Self.maximumDepth else {
            throw .invalidArgs("The value nests more than \(Self.maximumDepth) containers.")
        }
        depth += 1
        defer { depth -= 1 }
        try body(&self)
    }

    /// Appends a variant that holds a value of the type `signature`, which `body` writes.
    package mutating func variant(
        _ signature: Signature, _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard Signature.isSingle(signature.text) else {
            throw .invalidArgs("A variant holds one complete type, not “\(signature)”.")
        }
        try variant(holding: signature.text, body)
    }

    /// Appends an array whose elements have the type `signature` and are written by `body`.
    package mutating func array(
        of signature: Signature, _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard Signature.isSingle("a" + signature.text) else {
            throw .invalidArgs("“\(signature)” is not the type of an array's elements.")
        }
        try array(signature.text, body)
    }

    /// Appends a structure with the fields `signature`, which `body` writes.
    package mutating func structure(
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
        message.body.align(8)
        try nest(body)
    }
}

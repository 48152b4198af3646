// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// Properties (`a{sv}`) as the bytes that they take in a message. For small values this is a hundredth of the
/// memory, which suits what is kept for long and rarely read.
package struct PackedProperties: Hashable, Sendable {
    /// What they take as the body of a message; empty if there are no properties.
    private let bytes: [UInt8]
    private static let signature = "a{sv}"
    /// Where the first entry begins in ``bytes``, after the length and padding. Entries are aligned to as many bytes, so that they
    /// are the same wherever in a message they stand.
    private static let entriesStart = 8

    /// No properties.
    package init() { self.init(bytes: []) }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Packs `properties`.
    /// - Throws: `InvalidArgs` if they are nested more deeply than a message can hold, `LimitsExceeded` if they take
    ///   more than one can.
    package init(_ properties: [String: Value]) throws(DBusError) {
        try self.init(isEmpty: properties.isEmpty) { (writer) throws(DBusError) in
            try writer.write(properties)
        }
    }

    /// Packs `properties`, in their order.
    /// - Throws: the same, and `InvalidArgs` if they are no `a{sv}`.
    package init(_ properties: DictionaryValue) throws(DBusError) {
        guard properties.keySignature == "s", properties.valueSignature == "v" else {
            throw .invalidArgs("Properties have the type a{sv}.")
        }
        try self.init(isEmpty: properties.entries.isEmpty) { (writer) throws(DBusError) in
            try writer.writeContent(of: .dictionary(properties))
        }
    }

    private init(
        isEmpty: Bool, _ write: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard !isEmpty else {
            self.init()
            return
        }
        let message = Message(body: MarshalledOutput(), types: "")
        var writer = MessageWriter(message)
        try write(&writer)
        // A copy, which has no room for more.
        self.init(bytes: Array(message.body.bytes[...]))
    }

    private var reader: MessageReader {
        MessageReader(Message(body: MarshalledOutput(bytes), types: Self.signature))
    }

    /// The properties with these entries, which stand in a message that has been checked, the least significant byte of a number
    /// first.
    init(checked entries: ArraySlice<UInt8>) {
        guard !entries.isEmpty else {
            self.init()
            return
        }
        var output = MarshalledOutput(capacity: Self.entriesStart + entries.count)
        output.append(integer: UInt32(truncatingIfNeeded: entries.count))
        output.align(Self.entriesStart)
        output.append(entries)
        self.init(bytes: output.bytes)
    }

    /// Whether there are no properties.
    package var isEmpty: Bool { bytes.isEmpty }

    /// The properties that were packed, with the types that they had.
    /// - Throws: `LimitsExceeded` if they take more memory than a message may be read into, which those that came in one
    ///   do not.
    package func unpacked() throws(DBusError) -> [String: Value] {
        guard !bytes.isEmpty else { return [:] }
        var reader = reader
        return try reader.read()
    }

    /// The same as one value, in the order in which they were packed.
    package func value() throws(DBusError) -> Value {
        guard !bytes.isEmpty else { return .properties([:]) }
        var reader = reader
        return try reader.readAnyValue()
    }

    /// Whether there may be a structure `(tag, variant of a string that begins with start)` anywhere in them, in
    /// whichever case the string writes `start`. Nothing is unpacked for that; bytes that only look like one count too.
    package func mayHold(_ tag: String, beginning start: String) -> Bool {
        // The tag, the zero byte that ends it, and the signature of the variant, between which nothing is padded.
        let pattern = Array(tag.utf8) + [0, 1, UInt8(ascii: "s"), 0]
        return bytes.withUnsafeBytes { all in
            guard let base = all.baseAddress, all.count >= pattern.count else { return false }
            var offset = 0
            while let match = memchr(base + offset, Int32(pattern[0]), all.count - pattern.count + 1 - offset)
            {
                offset = base.distance(to: UnsafeRawPointer(match)) + 1
                guard memcmp(match, pattern, pattern.count) == 0 else { continue }
                // The string is aligned, and its length comes first.
                let text = all.dropFirst((offset - 1 + pattern.count + 3) & ~3).dropFirst(4)
                let beginning = String(decoding: text.prefix(start.utf8.count), as: UTF8.self)
                if beginning.lowercased() == start.lowercased() { return true }
            }
            return false
        }
    }
}

extension PackedProperties: DBusType {
    package static var typeSignature: String { signature }

    /// Their entries are copied if these have the bytes that they would be packed into, and otherwise packed anew.
    package static func read(from reader: inout MessageReader) throws(DBusError) -> PackedProperties {
        if let copied = try reader.packedProperties() { return copied }
        let value = try reader.readAnyValue()
        guard case .dictionary(let properties) = value else {
            throw .invalidArgs("Expected a value of type \(typeSignature), found \(value.typeSignature).")
        }
        return try PackedProperties(properties)
    }

    package func write(to writer: inout MessageWriter) throws(DBusError) {
        guard try writer.copy(entries: bytes.dropFirst(Self.entriesStart), of: Self.signature) else {
            return try writer.writeContent(of: try value())
        }
    }
}

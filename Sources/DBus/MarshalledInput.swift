// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// Takes marshalled values out of bytes, one after the other (D-Bus Specification, "Marshaling"). It never reads beyond
/// their end, whatever they claim; what lies between values has to be zero.
struct MarshalledInput {
    /// What is read; values are aligned relative to its beginning.
    let bytes: [UInt8]
    /// Whether the most significant byte of a number comes first.
    let isBigEndian: Bool
    /// Where the next value begins, or the padding before it.
    var offset: Int
    /// Where the values end.
    let end: Int
    /// Whether a type may name a descriptor: nobody reads those in fields of the header that are not known.
    var takesDescriptors = false

    /// The values in `range`, or in what of it exists.
    init(_ bytes: [UInt8], isBigEndian: Bool, _ range: Range<Int>) {
        self.bytes = bytes
        self.isBigEndian = isBigEndian
        offset = max(0, range.lowerBound)
        end = min(range.upperBound, bytes.count)
    }

    /// Passes over padding.
    mutating func align(_ boundary: Int) throws(DBusError) {
        let aligned = (offset + boundary - 1) & ~(boundary - 1)
        guard aligned != offset else { return }
        guard aligned <= end else { throw .malformed("a value is cut off") }
        while offset < aligned {
            guard bytes[offset] == 0 else { throw .malformed("padding is not zero") }
            offset += 1
        }
    }

    /// Takes a byte.
    mutating func byte() throws(DBusError) -> UInt8 {
        guard offset < end else { throw .malformed("a value is cut off") }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// Takes a number.
    mutating func integer<Number: FixedWidthInteger & BitwiseCopyable>(
        _: Number.Type = Number.self
    ) throws(DBusError) -> Number {
        let size = MemoryLayout<Number>.size
        try align(size)
        guard end - offset >= size else { throw .malformed("a value is cut off") }
        let value = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
        offset += size
        return isBigEndian ? Number(bigEndian: value) : Number(littleEndian: value)
    }

    /// Takes the text of a string or an object path, unchecked.
    /// - Returns: where it is, without the NUL that ends it.
    mutating func text() throws(DBusError) -> Range<Int> { try terminated(Int(try integer(UInt32.self))) }

    /// Takes a signature, unchecked.
    /// - Returns: where it is, without the NUL that ends it.
    mutating func shortText() throws(DBusError) -> Range<Int> { try terminated(Int(try byte())) }

    private mutating func terminated(_ count: Int) throws(DBusError) -> Range<Int> {
        guard count < end - offset else { throw .malformed("a text is cut off") }
        let range = offset..<offset + count
        guard bytes[range.upperBound] == 0 else { throw .malformed("a text does not end with NUL") }
        offset = range.upperBound + 1
        return range
    }

    /// Takes the length of an array of elements of the type `element`, and the padding before the first of them.
    /// - Returns: where the array ends.
    mutating func array(of element: UInt8) throws(DBusError) -> Int {
        let count = Int(try integer(UInt32.self))
        try align(TypeCode.alignment(of: element))
        guard count <= Self.maximumArray, count <= end - offset else {
            throw .malformed("an array is too long")
        }
        return offset + count
    }

    /// The most bytes that an array takes.
    static let maximumArray = 1 << 26

    /// Passes over a value of the type whose code is at `type` in the bytes, and over that type.
    mutating func skipValue(_ type: inout Int) throws(DBusError) {
        let code = bytes[type]
        type += 1
        switch code {
        case TypeCode.string, TypeCode.objectPath: _ = try text()
        case TypeCode.signature: _ = try shortText()
        case TypeCode.array:
            offset = try array(of: bytes[type])
            type = TypeGrammar.end(ofTypeAt: type, in: bytes, before: bytes.count)
        case TypeCode.variant:
            var content = try shortText().lowerBound
            try skipValue(&content)
        case TypeCode.structure, TypeCode.dictionaryEntry:
            try align(8)
            while bytes[type] != TypeCode.structureEnd, bytes[type] != TypeCode.dictionaryEntryEnd {
                try skipValue(&type)
            }
            type += 1
        default:
            let size = TypeCode.fixedSize(of: code) ?? 1
            try align(size)
            guard end - offset >= size else { throw .malformed("a value is cut off") }
            offset += size
        }
    }

    /// The text at `range`.
    func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Whether the bytes at `range` are `text`.
    func holds(_ text: String, at range: Range<Int>) -> Bool { bytes.holds(text, at: range) }
}

extension [UInt8] {
    /// Whether the bytes at `range` are `text`.
    func holds(_ text: String, at range: Range<Int>) -> Bool {
        guard text.utf8.count == range.count, range.upperBound <= count else { return false }
        return withUnsafeBytes { all in
            let part = UnsafeRawBufferPointer(rebasing: all[range])
            // The standard library would compare the bytes one by one.
            return text.utf8.withContiguousStorageIfAvailable { text in
                guard let start = part.baseAddress, let other = text.baseAddress else { return true }
                return memcmp(start, other, text.count) == 0
            } ?? part.elementsEqual(text.utf8)
        }
    }
}

extension DBusError {
    /// Bytes are not what they claim to be, because `what`.
    static func malformed(_ what: String) -> DBusError {
        .invalidArgs("The bytes are not a message: \(what).")
    }
}

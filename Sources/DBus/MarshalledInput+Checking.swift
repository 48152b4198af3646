// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// Finds out whether values are what their types claim, all of them, so that whoever reads them later need not.
extension MarshalledInput {
    /// How many arrays, dictionary entries, structures and variants may be nested, each counted.
    private static let maximumDepth = 64

    /// Checks the values whose types are at `types` in the bytes, that nothing follows them, and that none of them is a
    /// descriptor.
    mutating func checkValues(of types: Range<Int>) throws(DBusError) {
        try refuseDescriptors(types)
        var type = types.lowerBound
        while type < types.upperBound { try checkValue(&type, depth: 0) }
        guard offset == end else { throw .malformed("something follows the last argument") }
    }

    /// The type of a descriptor must not be let in, even where the array that names it is empty.
    private func refuseDescriptors(_ types: Range<Int>) throws(DBusError) {
        guard !takesDescriptors else { return }
        for index in types where bytes[index] == TypeCode.fileDescriptor { throw Message.descriptorRefused }
    }

    /// Checks a value of the type at `type` in the bytes, within `depth` others, and passes over both.
    private mutating func checkValue(_ type: inout Int, depth: Int) throws(DBusError) {
        let code = bytes[type]
        type += 1
        switch code {
        case TypeCode.string: try checkString()
        case TypeCode.variant: try checkVariant(depth: depth)
        case TypeCode.array: try checkArray(&type, depth)
        case TypeCode.structure, TypeCode.dictionaryEntry:
            try align(8)
            try checkDepth(depth + 1)
            while bytes[type] != TypeCode.structureEnd, bytes[type] != TypeCode.dictionaryEntryEnd {
                try checkValue(&type, depth: depth + 1)
            }
            type += 1
        case TypeCode.boolean: try checkBoolean()
        case TypeCode.objectPath:
            let range = try text()
            guard NameCheck.isPath(bytes.span.extracting(range)) else {
                throw .malformed("an object path is none")
            }
        case TypeCode.signature:
            let range = try shortText()
            guard TypeGrammar.isValid(bytes.span.extracting(range)) else {
                throw .malformed("a signature is none")
            }
        case TypeCode.byte: _ = try byte()
        case TypeCode.int16, TypeCode.uint16: _ = try integer(UInt16.self)
        case TypeCode.int64, TypeCode.uint64, TypeCode.double: _ = try integer(UInt64.self)
        default: _ = try integer(UInt32.self)
        }
    }

    private func checkDepth(_ depth: Int) throws(DBusError) {
        guard depth <= Self.maximumDepth else { throw .malformed("it nests too deeply") }
    }

    private mutating func checkBoolean() throws(DBusError) {
        guard try integer(UInt32.self) <= 1 else { throw .malformed("a boolean is neither 0 nor 1") }
    }

    private mutating func checkString() throws(DBusError) {
        let range = try text()
        // Up to the NUL that ends it.
        guard bytes.withUnsafeBytes({ strlen($0.baseAddress, from: range.lowerBound) }) == range.count else {
            throw .malformed("a string holds a NUL character")
        }
        // Most are nothing but ASCII.
        guard !isASCII(range) else { return }
        guard (try? UTF8Span(validating: bytes.span.extracting(range))) != nil else {
            throw .malformed("a string is not UTF-8")
        }
    }

    private func isASCII(_ range: Range<Int>) -> Bool {
        bytes.withUnsafeBytes { all in
            let part = UnsafeRawBufferPointer(rebasing: all[range])
            var (index, found) = (0, UInt64(0))
            while index + 8 <= part.count {
                found |= part.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                index += 8
            }
            while index < part.count {
                found |= UInt64(part[index])
                index += 1
            }
            return found & 0x8080_8080_8080_8080 == 0
        }
    }

    /// Checks a variant within `depth` other containers.
    mutating func checkVariant(depth: Int) throws(DBusError) {
        let types = try shortText()
        guard TypeGrammar.isSingle(bytes.span.extracting(types)) else {
            throw .malformed("a variant does not hold one complete type")
        }
        try refuseDescriptors(types)
        try checkDepth(depth + 1)
        var type = types.lowerBound
        try checkValue(&type, depth: depth + 1)
    }

    private mutating func checkArray(_ type: inout Int, _ depth: Int) throws(DBusError) {
        let element = type
        let code = bytes[element]
        let stop = try array(of: code)
        type = TypeGrammar.end(ofTypeAt: element, in: bytes, before: bytes.count)
        if code == TypeCode.boolean {
            while offset < stop { try checkBoolean() }
        } else if let size = TypeCode.fixedSize(of: code) {
            guard (stop - offset) % size == 0 else { throw .malformed("an array ends within an element") }
            offset = stop
        } else if offset < stop {
            try checkDepth(depth + 1)
            while offset < stop {
                var element = element
                try checkValue(&element, depth: depth + 1)
            }
        }
        guard offset == stop else { throw .malformed("an array ends within an element") }
    }
}

/// How many bytes there are at `offset` before the next NUL, of which there is one.
private func strlen(_ start: UnsafeRawPointer?, from offset: Int) -> Int {
    start.map { Glibc.strlen(($0 + offset).assumingMemoryBound(to: CChar.self)) } ?? 0
}

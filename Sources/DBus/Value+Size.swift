// SPDX-License-Identifier: LGPL-2.1-or-later

/// Counts the bytes that values take as the body of a message, without marshalling them (D-Bus
/// Specification, "Marshaling").
package struct MarshalledSize: Sendable {
    /// How many bytes there are so far, from the start of the body.
    package private(set) var bytes = 0

    /// An empty body.
    package init() {}

    /// The size of a body that holds nothing but `properties` as `a{sv}`.
    package static func ofBody(_ properties: [String: Value]) -> Int {
        var size = MarshalledSize()
        size.add(.properties(properties))
        return size.bytes
    }

    /// The same of a dictionary as it is.
    package static func ofBody(_ dictionary: DictionaryValue) -> Int {
        var size = MarshalledSize()
        size.add(dictionary)
        return size.bytes
    }

    private mutating func align(_ boundary: Int) { bytes = (bytes + boundary - 1) & ~(boundary - 1) }

    private mutating func fixed(_ size: Int) {
        align(size)
        bytes += size
    }

    private mutating func text(_ count: Int) {
        fixed(4)
        bytes += count + 1
    }

    /// Adds `value`, aligned as the type demands.
    package mutating func add(_ value: Value) {
        switch value {
        case .byte: bytes += 1
        case .int16, .uint16: fixed(2)
        case .boolean, .int32, .uint32: fixed(4)
        case .int64, .uint64, .double: fixed(8)
        case .string(let string): text(string.utf8.count)
        case .objectPath(let path): text(path.text.utf8.count)
        case .signature(let signature): bytes += signature.text.utf8.count + 2
        case .bytes(let array):
            fixed(4)
            bytes += array.count
        case .array(let array):
            fixed(4)
            align(Self.alignment(of: array.elementSignature))
            for element in array.elements { add(element) }
        case .dictionary(let dictionary): add(dictionary)
        case .structure(let structure):
            align(8)
            for field in structure.fields { add(field) }
        case .variant(let content): addVariant(content)
        }
    }

    private mutating func add(_ dictionary: DictionaryValue) {
        fixed(4)
        align(8)
        for entry in dictionary.entries {
            align(8)
            add(entry.key)
            add(entry.value)
        }
    }

    private mutating func addVariant(_ content: Value) {
        bytes += content.typeSignature.utf8.count + 2
        add(content)
    }

    /// Adds one more entry to an `a{sv}`, which is all that there is.
    package mutating func addProperty(_ key: String, _ value: Value) {
        align(8)
        text(key.utf8.count)
        addVariant(value)
    }

    private static func alignment(of signature: String) -> Int {
        switch signature.utf8.first {
        case UInt8(ascii: "n"), UInt8(ascii: "q"): 2
        case UInt8(ascii: "x"), UInt8(ascii: "t"), UInt8(ascii: "d"), UInt8(ascii: "("), UInt8(ascii: "{"): 8
        case UInt8(ascii: "y"), UInt8(ascii: "g"), UInt8(ascii: "v"): 1
        default: 4
        }
    }
}

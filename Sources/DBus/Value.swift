// SPDX-License-Identifier: LGPL-2.1-or-later

/// A D-Bus value of any type except a file descriptor, with its exact type.
///
/// Every `Value` that can be made can be sent: containers are checked when they are made, names and
/// signatures are checked types, and the encoder refuses what is nested too deeply.
package enum Value: Hashable, Sendable {
    /// `y`
    case byte(UInt8)
    /// `b`
    case boolean(Bool)
    /// `n`
    case int16(Int16)
    /// `q`
    case uint16(UInt16)
    /// `i`
    case int32(Int32)
    /// `u`
    case uint32(UInt32)
    /// `x`
    case int64(Int64)
    /// `t`
    case uint64(UInt64)
    /// `d`
    case double(Double)
    /// `s`
    case string(String)
    /// `o`
    case objectPath(ObjectPath)
    /// `g`
    case signature(Signature)
    /// `ay`
    case bytes([UInt8])
    /// An array of anything but bytes and dictionary entries.
    case array(ArrayValue)
    /// An array of dictionary entries.
    case dictionary(DictionaryValue)
    /// `(…)`
    case structure(StructureValue)
    /// `v`
    indirect case variant(Value)

    /// The signature of this value's type.
    package var typeSignature: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .bytes: "ay"
        case .array(let array): "a" + array.elementSignature
        case .dictionary(let dictionary): "a{\(dictionary.keySignature)\(dictionary.valueSignature)}"
        case .structure(let structure): "(" + structure.fields.map(\.typeSignature).joined() + ")"
        case .variant: "v"
        }
    }
}

/// The elements of a D-Bus array, all of one type.
package struct ArrayValue: Hashable, Sendable {
    /// The signature of each element: one complete type, neither `y` nor a dictionary entry.
    package let elementSignature: String
    /// The elements, in order.
    package let elements: [Value]

    init(checkedSignature elementSignature: String, _ elements: [Value]) {
        self.elementSignature = elementSignature
        self.elements = elements
    }
}

/// The entries of a D-Bus dictionary, in the order in which they are sent.
package struct DictionaryValue: Hashable, Sendable {
    /// One entry.
    package struct Entry: Hashable, Sendable {
        /// The key, of the dictionary's key type.
        package let key: Value
        /// The value, of the dictionary's value type.
        package let value: Value
    }

    /// The signature of each key: a basic type.
    package let keySignature: String
    /// The signature of each value: one complete type.
    package let valueSignature: String
    /// The entries, in order; a key may come twice.
    package let entries: [Entry]

    init(checkedKey keySignature: String, checkedValue valueSignature: String, _ entries: [Entry]) {
        self.keySignature = keySignature
        self.valueSignature = valueSignature
        self.entries = entries
    }
}

/// The fields of a D-Bus structure: at least one.
package struct StructureValue: Hashable, Sendable {
    /// The fields, in order.
    package let fields: [Value]

    init(checked fields: [Value]) { self.fields = fields }
}

extension Value {
    /// An array of `elements`, each of the type `signature`.
    /// - Throws: `InvalidArgs` if the signature is not one complete type, names a file descriptor, or an element
    ///   has another type.
    package static func array(of signature: String, _ elements: [Value]) throws(DBusError) -> Value {
        guard Signature.isSingle(signature), Signature.isSingle("a" + signature), !signature.contains("h")
        else {
            throw .invalidArgs("“\(signature)” is not the type of an array's elements.")
        }
        for (index, element) in elements.enumerated() where element.typeSignature != signature {
            throw .invalidArgs("Element \(index) has the type \(element.typeSignature), not \(signature).")
        }
        guard signature == "y" else { return .array(ArrayValue(checkedSignature: signature, elements)) }
        return .bytes(elements.compactMap { if case .byte(let byte) = $0 { byte } else { nil } })
    }

    /// A dictionary.
    /// - Throws: `InvalidArgs` if the key's type is not basic, a type names a file descriptor, or an entry has other
    ///   types.
    package static func dictionary(
        key: String, value: String, _ entries: [(key: Value, value: Value)]
    ) throws(DBusError) -> Value {
        guard Signature.isSingle("a{\(key)\(value)}"), Signature.isSingle(key), Signature.isSingle(value),
            key != "h", !value.contains("h")
        else {
            throw .invalidArgs("“{\(key)\(value)}” is not the type of a dictionary entry.")
        }
        for (index, entry) in entries.enumerated()
        where entry.key.typeSignature != key || entry.value.typeSignature != value {
            throw .invalidArgs("Entry \(index) does not have the type {\(key)\(value)}.")
        }
        return .dictionary(
            DictionaryValue(
                checkedKey: key, checkedValue: value,
                entries.map { DictionaryValue.Entry(key: $0.key, value: $0.value) }))
    }

    /// A structure.
    /// - Throws: `InvalidArgs` if there is no field.
    package static func structure(_ fields: [Value]) throws(DBusError) -> Value {
        guard !fields.isEmpty else { throw .invalidArgs("A structure has at least one field.") }
        return .structure(StructureValue(checked: fields))
    }

    /// `as`
    package static func strings(_ strings: [String]) -> Value {
        .array(ArrayValue(checkedSignature: "s", strings.map { .string($0) }))
    }

    /// `at`
    package static func numbers(_ numbers: [UInt64]) -> Value {
        .array(ArrayValue(checkedSignature: "t", numbers.map { .uint64($0) }))
    }

    /// An array of arrays of bytes, `aay`.
    package static func byteArrays(_ arrays: [[UInt8]]) -> Value {
        .array(ArrayValue(checkedSignature: "ay", arrays.map { .bytes($0) }))
    }

    /// `a{sv}`, its entries sorted by key so that equal dictionaries are equal values.
    package static func properties(_ properties: [String: Value]) -> Value {
        let entries = properties.sorted { $0.key < $1.key }
            .map { DictionaryValue.Entry(key: .string($0.key), value: .variant($0.value)) }
        return .dictionary(DictionaryValue(checkedKey: "s", checkedValue: "v", entries))
    }
}

extension Value {
    /// The string of an `s`.
    package var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The strings of an `as`.
    package var strings: [String]? {
        guard case .array(let array) = self, array.elementSignature == "s" else { return nil }
        return array.elements.compactMap(\.string)
    }

    /// The numbers of an `at`.
    package var numbers: [UInt64]? {
        guard case .array(let array) = self, array.elementSignature == "t" else { return nil }
        return array.elements.compactMap { if case .uint64(let number) = $0 { number } else { nil } }
    }

    /// The entries of an `a{sv}`; if a key comes twice, the last entry counts.
    package var properties: [String: Value]? {
        guard case .dictionary(let dictionary) = self, dictionary.keySignature == "s",
            dictionary.valueSignature == "v"
        else { return nil }
        var result: [String: Value] = [:]
        for entry in dictionary.entries {
            if case .string(let key) = entry.key, case .variant(let value) = entry.value {
                result[key] = value
            }
        }
        return result
    }

    /// This `a{sv}` as ``properties(_:)`` makes it: its entries sorted by key, of a key that comes twice the last alone;
    /// nil if this is none.
    package var sortedProperties: DictionaryValue? {
        guard case .dictionary(let dictionary) = self, dictionary.keySignature == "s",
            dictionary.valueSignature == "v"
        else { return nil }
        var entries = dictionary.entries
        if !Self.isAscending(entries) {
            entries.sort { ($0.key.string ?? "") < ($1.key.string ?? "") }
            guard Self.isAscending(entries) else {
                // A key comes twice.
                return properties.flatMap { Value.properties($0).sortedProperties }
            }
        }
        return DictionaryValue(checkedKey: "s", checkedValue: "v", entries)
    }

    /// Whether each key is greater than the one before it.
    private static func isAscending(_ entries: [DictionaryValue.Entry]) -> Bool {
        var former: String?
        for entry in entries {
            guard case .string(let key) = entry.key else { return false }
            if let former, key <= former { return false }
            former = key
        }
        return true
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// One complete D-Bus type and the Swift type that stands for it.
package struct CompleteType: Equatable {
    /// Its signature, e.g. `a{sv}`.
    package let signature: String
    /// The Swift type, e.g. `[String: Value]`.
    package let swift: String

    /// The same type where its values are kept as the bytes that they are in a message; nil if only properties can be.
    package var packed: CompleteType? {
        signature == "a{sv}" ? CompleteType(signature: signature, swift: "PackedProperties") : nil
    }

    private init(signature: String, swift: String) { (self.signature, self.swift) = (signature, swift) }

    /// Whether it is a file descriptor.
    package var isDescriptor: Bool { signature == "h" }
    /// Whether a file descriptor is somewhere in it.
    package var holdsDescriptor: Bool { signature.utf8.contains(UInt8(ascii: "h")) }

    /// The type with this signature, or nil if it is not one complete type (D-Bus Specification, "Type
    /// System").
    package init?(_ signature: String) {
        guard (1...255).contains(signature.utf8.count) else { return nil }
        var parser = TypeParser(rest: signature.utf8[...])
        guard let swift = parser.type(arrays: 0, structures: 0), parser.rest.isEmpty else { return nil }
        self.signature = signature
        self.swift = swift
    }
}

private struct TypeParser {
    var rest: Substring.UTF8View

    private static let basic: [UInt8: String] = [
        UInt8(ascii: "y"): "UInt8", UInt8(ascii: "b"): "Bool", UInt8(ascii: "n"): "Int16",
        UInt8(ascii: "q"): "UInt16", UInt8(ascii: "i"): "Int32", UInt8(ascii: "u"): "UInt32",
        UInt8(ascii: "x"): "Int64", UInt8(ascii: "t"): "UInt64", UInt8(ascii: "d"): "Double",
        UInt8(ascii: "s"): "String", UInt8(ascii: "o"): "ObjectPath", UInt8(ascii: "g"): "Signature",
        UInt8(ascii: "h"): "FileDescriptor",
    ]

    /// The Swift type for the type at the beginning of `rest`, from which it is removed. `arrays` and
    /// `structures` say how many of each surround it: D-Bus allows 32 of each.
    mutating func type(arrays: Int, structures: Int) -> String? {
        guard let code = rest.popFirst() else { return nil }
        switch code {
        case UInt8(ascii: "v"): return "Value"
        case UInt8(ascii: "a"):
            guard arrays < 32 else { return nil }
            if rest.first == UInt8(ascii: "{") {
                return dictionary(arrays: arrays + 1, structures: structures)
            }
            return type(arrays: arrays + 1, structures: structures).map { "[\($0)]" }
        case UInt8(ascii: "("):
            guard structures < 32 else { return nil }
            return structure(arrays: arrays, structures: structures + 1)
        default: return Self.basic[code]
        }
    }

    private mutating func dictionary(arrays: Int, structures: Int) -> String? {
        rest.removeFirst()
        // A dictionary entry does not count separately from its array.
        guard let code = rest.popFirst(), let key = Self.basic[code],
            let value = type(arrays: arrays, structures: structures), rest.popFirst() == UInt8(ascii: "}")
        else { return nil }
        return "[\(key): \(value)]"
    }

    private mutating func structure(arrays: Int, structures: Int) -> String? {
        var fields: [String] = []
        while rest.first != UInt8(ascii: ")") {
            guard let field = type(arrays: arrays, structures: structures) else { return nil }
            fields.append(field)
        }
        rest.removeFirst()
        return fields.isEmpty ? nil : "Structure<\(fields.joined(separator: ", "))>"
    }
}

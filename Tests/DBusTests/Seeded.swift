// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import TestSupport

/// Random values, of random types.
extension Seeded {
    private static let basicTypes = ["y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g"]

    /// One complete type with at most `depth` containers in one another.
    mutating func type(depth: Int) -> String {
        let choice = below(depth > 0 ? 18 : 12)
        switch choice {
        case 12, 13: return "v"
        case 14: return "a" + type(depth: depth - 1)
        case 15: return "ay"
        case 16: return "a{\(Self.basicTypes[below(12)])\(type(depth: depth - 1))}"
        case 17: return "(" + (0...below(3)).map { _ in type(depth: depth - 1) }.joined() + ")"
        default: return Self.basicTypes[choice]
        }
    }

    /// A value of any type.
    mutating func value(depth: Int = 5) throws -> Value { try value(of: type(depth: depth), depth: depth) }

    /// A value of the type `signature`.
    mutating func value(of signature: String, depth: Int) throws -> Value {
        let inner = String(signature.dropFirst())
        switch signature.first {
        case "a" where inner.hasPrefix("{"):
            let types = inner.dropFirst().dropLast()
            let (key, value) = (String(types.prefix(1)), String(types.dropFirst()))
            let entries = try (0..<below(4)).map { _ in
                (key: try self.value(of: key, depth: 0), value: try self.value(of: value, depth: depth - 1))
            }
            return try .dictionary(key: key, value: value, entries)
        case "a":
            return try .array(
                of: inner, try (0..<below(5)).map { _ in try value(of: inner, depth: depth - 1) })
        case "(":
            let fields = try Signature(String(inner.dropLast())).types
            return try .structure(fields.map { try value(of: $0, depth: depth - 1) })
        case "v": return .variant(try value(depth: max(0, depth - 1)))
        default: return try basic(signature)
        }
    }

    private mutating func basic(_ signature: String) throws -> Value {
        let bits = next() >> UInt64(below(64))
        return switch signature {
        case "y": .byte(UInt8(truncatingIfNeeded: bits))
        case "b": .boolean(bits & 1 == 1)
        case "n": .int16(Int16(truncatingIfNeeded: bits))
        case "q": .uint16(UInt16(truncatingIfNeeded: bits))
        case "i": .int32(Int32(truncatingIfNeeded: bits))
        case "u": .uint32(UInt32(truncatingIfNeeded: bits))
        case "x": .int64(Int64(truncatingIfNeeded: bits))
        case "t": .uint64(bits)
        case "d": .double(Double(Int64(truncatingIfNeeded: bits)) / 3)
        case "o": .objectPath(try ObjectPath("/p\(bits)/\(below(10))"))
        case "g": .signature(try Signature(type(depth: 3)))
        default: .string(text())
        }
    }

    /// Text with characters of one to four bytes.
    mutating func text() -> String {
        let characters: [Character] = ["a", "Z", " ", "\n", "é", "ß", "€", "日", "😀", "\u{1}", "\u{fffd}"]
        return String((0..<below(12)).map { _ in characters[below(characters.count)] })
    }
}

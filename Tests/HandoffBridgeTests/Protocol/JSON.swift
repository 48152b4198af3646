// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus

/// A value of JSON. The members of its objects keep their order: what is given comes before what follows from it.
indirect enum JSON {
    case null
    case truth(Bool)
    case number(String)
    case text(String)
    case list([JSON])
    case object([(key: String, value: JSON)])

    static func number(_ value: some BinaryInteger) -> JSON { .number(String(value)) }

    /// Bytes, as hexadecimal digits.
    static func bytes(_ bytes: some Sequence<UInt8>) -> JSON {
        let digits = Array("0123456789abcdef".utf8)
        return .text(
            String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self))
    }

    /// Bytes, or null for none.
    static func orNull(_ bytes: [UInt8]?) -> JSON { bytes.map { JSON.bytes($0) } ?? .null }

    /// A value of D-Bus with its type.
    static func typed(_ value: DBus.Value) -> JSON {
        ["type": .text(value.typeSignature), "data": content(of: value)]
    }

    /// A value of D-Bus whose type is known. Bytes are hexadecimal digits; a dictionary, whose keys are strings, is an object.
    private static func content(of value: DBus.Value) -> JSON {
        switch value {
        case .byte(let number): .number(number)
        case .boolean(let truth): .truth(truth)
        case .int16(let number): .number(number)
        case .uint16(let number): .number(number)
        case .int32(let number): .number(number)
        case .uint32(let number): .number(number)
        case .int64(let number): .number(number)
        case .uint64(let number): .number(number)
        case .double(let number): .number("\(number)")
        case .string(let text): .text(text)
        case .objectPath(let path): .text(path.text)
        case .signature(let signature): .text(signature.text)
        case .bytes(let bytes): .bytes(bytes)
        case .array(let array): .list(array.elements.map(content))
        case .structure(let structure): .list(structure.fields.map(content))
        case .dictionary(let dictionary):
            .object(dictionary.entries.map { (key: $0.key.string ?? "", value: content(of: $0.value)) })
        case .variant(let value): typed(value)
        }
    }

    /// As it is written to a file: what fits into a line is in one.
    var text: String { written(0) + "\n" }

    private static let width = 118

    private func written(_ indent: Int) -> String {
        let line = self.line
        guard line.utf8.count + indent > Self.width else { return line }
        let (inner, outer) = (
            "\n" + String(repeating: " ", count: indent + 2), "\n" + String(repeating: " ", count: indent)
        )
        switch self {
        case .list(let elements):
            return "[" + elements.map { inner + $0.written(indent + 2) }.joined(separator: ",") + outer + "]"
        case .object(let members):
            let lines = members.map { "\(inner)\(Self.quoted($0.key)): \($0.value.written(indent + 2))" }
            return "{" + lines.joined(separator: ",") + outer + "}"
        default: return line
        }
    }

    private var line: String {
        switch self {
        case .null: "null"
        case .truth(let value): value ? "true" : "false"
        case .number(let digits): digits
        case .text(let text): Self.quoted(text)
        case .list(let elements): "[" + elements.map(\.line).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\(Self.quoted($0.key)): \($0.value.line)" }.joined(separator: ", ") + "}"
        }
    }

    /// Everything that is not printable ASCII is escaped, so that nobody's editor changes it.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for unit in text.utf16 {
            switch unit {
            case 0x22, 0x5C: quoted += "\\" + String(UnicodeScalar(UInt8(unit)))
            case 0x20...0x7E: quoted += String(UnicodeScalar(UInt8(unit)))
            default:
                let digits = String(unit, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            }
        }
        return quoted + "\""
    }
}

// The types of literals are named, since the compiler gets lost when it infers them from each other.
extension JSON: ExpressibleByNilLiteral {
    init(nilLiteral: ()) { self = .null }
}

extension JSON: ExpressibleByBooleanLiteral {
    typealias BooleanLiteralType = Bool

    init(booleanLiteral value: Bool) { self = .truth(value) }
}

extension JSON: ExpressibleByStringLiteral {
    typealias StringLiteralType = String
    typealias ExtendedGraphemeClusterLiteralType = String
    typealias UnicodeScalarLiteralType = String

    init(stringLiteral value: String) { self = .text(value) }
}

extension JSON: ExpressibleByArrayLiteral {
    typealias ArrayLiteralElement = JSON

    init(arrayLiteral elements: JSON...) { self = .list(elements) }
}

extension JSON: ExpressibleByDictionaryLiteral {
    typealias Key = String
    typealias Value = JSON

    init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { (key: $0.0, value: $0.1) })
    }
}

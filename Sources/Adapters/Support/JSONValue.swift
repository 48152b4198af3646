// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// A JSON value (RFC 8259) that an application's add-on and its adapter exchange.
package indirect enum JSONValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// The members by name. An object that names one twice is refused.
    case object([String: JSONValue])
}

extension JSONValue: JSONReadable {
    package static var loneSurrogate: Unicode.Scalar? { "\u{FFFD}" }

    package static func made(ofNumber digits: String) -> JSONValue? {
        Double(digits).flatMap { $0.isFinite ? .number($0) : nil }
    }

    package static func made(ofMembers members: [(name: String, value: JSONValue)]) -> JSONValue {
        .object(Dictionary(members.map { ($0.name, $0.value) }) { $1 })
    }
}

extension JSONValue {
    /// The member of this name, unless it is not there, null, or this is no object.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self, let member = members[name], member != .null else {
            return nil
        }
        return member
    }

    /// The text, if this is one.
    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// Yes or no, if this is either.
    package var boolean: Bool? {
        guard case .boolean(let flag) = self else { return nil }
        return flag
    }

    /// The number, if this is one. It is finite.
    package var number: Double? {
        guard case .number(let number) = self else { return nil }
        return number
    }

    /// The whole number, if this is one that JSON keeps exactly: up to 2⁵³ either way.
    package var integer: Int64? {
        guard case .number(let number) = self, number.magnitude <= 9_007_199_254_740_992 else { return nil }
        return Int64(exactly: number)
    }

    /// The elements, if this is an array.
    package var elements: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    package init(stringLiteral value: String) { self = .string(value) }

    /// An object; of members with one name the last counts.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }

    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// A whole number.
    package static func integer(_ number: Int) -> JSONValue { .number(Double(number)) }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// A checked D-Bus signature: zero or more complete types.
package struct Signature: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The signature itself, e.g. `sa{sv}`.
    package let text: String

    /// The checked signature.
    /// - Throws: `InvalidArgs`, with the text, if it is not a valid signature.
    package init(_ text: String) throws(DBusError) {
        guard Self.isValid(text) else {
            throw .invalidArgs("“\(text.prefix(256))” is not a valid signature.")
        }
        self.text = text
    }

    /// A signature in the source code. An invalid one is a programming error, and ends the process here.
    package init(stringLiteral value: StaticString) {
        let text = "\(value)"
        precondition(Self.isValid(text), "not a valid signature")
        self.text = text
    }

    init(validated text: String) { self.text = text }

    /// Whether `text` is a signature (D-Bus Specification, "Type System").
    package static func isValid(_ text: String) -> Bool {
        TypeGrammar.isValid(text.utf8.span)
    }

    /// Whether `text` is the signature of exactly one complete type.
    package static func isSingle(_ text: String) -> Bool {
        TypeGrammar.isSingle(text.utf8.span)
    }

    /// The complete types in it, in order.
    package var types: [String] {
        var types: [String] = []
        var (depth, current) = (0, "")
        for character in text {
            current.append(character)
            if character == "(" || character == "{" { depth += 1 }
            if character == ")" || character == "}" { depth -= 1 }
            if depth == 0 && character != "a" {
                types.append(current)
                current = ""
            }
        }
        return types
    }

    /// The signature itself.
    package var description: String { text }
}

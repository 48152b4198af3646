// SPDX-License-Identifier: LGPL-2.1-or-later

/// An application: the file name of its desktop entry without `.desktop`.
package struct ApplicationID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The identifier as it was written.
    package let description: String

    /// The identifier written as `text`. Throws the reason if the text is not valid: an identifier has 1 to
    /// 255 of the characters `A-Z`, `a-z`, `0-9`, `.`, `_`, `-`, and does not begin with a dot.
    package init(_ text: String) throws(HandoffFailure) {
        guard Self.isValid(text) else {
            throw HandoffFailure(
                .invalidArguments,
                "\"\(PeerText.message(text))\" is not an application id. Use the name of its desktop entry"
                    + " without .desktop: 1 to 255 letters, digits, dots, hyphens and underscores, no dot first."
            )
        }
        description = text
    }

    /// Whether `lhs` comes before `rhs` in an alphabetical list.
    package static func < (lhs: ApplicationID, rhs: ApplicationID) -> Bool {
        lhs.description < rhs.description
    }

    /// Whether `text` can be an application id.
    static func isValid(_ text: String) -> Bool {
        let dot = UInt8(ascii: ".")
        return 1...255 ~= text.utf8.count && text.utf8.first != dot
            && text.utf8.allSatisfy { $0 == dot || $0.isLabelCharacter }
    }
}

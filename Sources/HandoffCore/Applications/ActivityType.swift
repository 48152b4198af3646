// SPDX-License-Identifier: LGPL-2.1-or-later

/// A kind of activity, such as `com.example.notes.edit`: any non-empty text of at most 255 bytes without
/// control characters, which here include those that end a line or change the direction of writing.
package struct ActivityType: Hashable, Sendable, CustomStringConvertible {
    /// The longest type, in bytes of UTF-8.
    package static let maximumLength = 255
    /// Reading a web page; its only payload is the page's address.
    package static let browsingWeb = ActivityType(trusted: "org.example.Handoff.BrowsingWeb")
    /// All tabs of a window of a browser.
    package static let browsingWindow = ActivityType(trusted: "org.example.Handoff.BrowsingWindow")

    /// The type as it was written.
    package let description: String

    /// The type written as `text`. Throws the reason if the text is not a valid type.
    package init(_ text: String) throws(HandoffFailure) {
        let advice = "Use a name in reverse-DNS form, such as com.example.notes.edit."
        guard !text.isEmpty else {
            throw HandoffFailure(.invalidArguments, "An activity type is empty. \(advice)")
        }
        guard text.utf8.count <= Self.maximumLength else {
            throw HandoffFailure(
                .invalidArguments,
                "The activity type \"\(PeerText.clean(text, limit: 64))…\" is \(text.utf8.count) bytes long,"
                    + " more than \(Self.maximumLength). \(advice)")
        }
        guard !text.unicodeScalars.contains(where: PeerText.isControl) else {
            throw HandoffFailure(
                .invalidArguments,
                "The activity type \"\(PeerText.message(text))\" has a control character in it. \(advice)")
        }
        description = text
    }

    private init(trusted text: String) {
        description = text
    }

    /// Whether the type has the recommended form: at least two labels of ASCII letters, digits, `-` and `_`,
    /// separated by dots, of which the first starts with a letter.
    package var isReverseDNS: Bool {
        let labels = description.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count >= 2, let first = description.utf8.first, first.isLetter else { return false }
        return labels.allSatisfy { label in !label.isEmpty && label.allSatisfy(\.isLabelCharacter) }
    }
}

extension UInt8 {
    /// Whether this is an ASCII letter.
    var isLetter: Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= self || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self
    }

    /// Whether this is an ASCII letter or digit, `-` or `_`.
    var isLabelCharacter: Bool {
        isLetter || UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || self == UInt8(ascii: "-")
            || self == UInt8(ascii: "_")
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// Text that a peer or an application wrote and a person will read: nothing in it can steer a terminal,
/// reverse the direction of the text beside it, or be longer than there is room for.
package enum PeerText {
    /// The longest title, in characters.
    package static let maximumTitle = 256
    /// The longest name of a device, in characters.
    package static let maximumName = 64
    /// The longest message of an error, in characters.
    package static let maximumMessage = 256

    /// `text` as a title.
    package static func title(_ text: String) -> String {
        clean(text, limit: maximumTitle)
    }

    /// `text` as the name of a device, without white space at its ends; empty if nothing of it can be seen.
    package static func name(_ text: String) -> String {
        // Trimmed once more after the cut, which may have left a space at the end.
        let name = trimmed(clean(trimmed(text), limit: maximumName))
        return name.unicodeScalars.allSatisfy(isUnseen) ? "" : name
    }

    /// Whether a scalar leaves nothing where it stands.
    static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isWhitespace
    }

    private static func trimmed(_ text: String) -> String {
        String(text.unicodeScalars.trimmingSpace { $0.properties.isWhitespace })
    }

    /// `text` as the message of an error.
    package static func message(_ text: String) -> String {
        clean(text, limit: maximumMessage)
    }

    /// `text` with control characters replaced, cut to `limit` characters and `bytes` bytes, by default four
    /// times as many.
    ///
    /// The bytes are counted too because one character may be any number of combining ones.
    static func clean(_ text: String, limit: Int, bytes: Int? = nil) -> String {
        if text.utf8.count <= limit, text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return text }
        var kept = String.UnicodeScalarView()
        var room = bytes ?? 4 * limit
        var next: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            let shown = isControl(scalar) ? "\u{FFFD}" : scalar
            guard UTF8.width(shown) <= room else {
                next = shown
                break
            }
            room -= UTF8.width(shown)
            kept.append(shown)
        }
        var whole = String(kept)
        if let next, whole.count > 1, splitsCharacter(whole, before: next) { whole.removeLast() }
        return String(whole.prefix(limit))
    }

    /// Whether `next` would have belonged to the last character of `text`.
    private static func splitsCharacter(_ text: String, before next: Unicode.Scalar) -> Bool {
        (text + String(next)).count == text.count
    }

    /// Whether a scalar is a control character, ends a line, or changes the direction of writing: what counts
    /// as a control character wherever text from others is checked.
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension BidirectionalCollection {
    /// What is left without the elements at both ends that satisfy `predicate`.
    fileprivate func trimmingSpace(where predicate: (Element) -> Bool) -> SubSequence {
        guard let first = firstIndex(where: { !predicate($0) }),
            let last = lastIndex(where: { !predicate($0) })
        else { return self[endIndex...] }
        return self[first...last]
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// Text as it is compared in a search.
package enum FoldedText {
    /// `text` without what people leave out when they search: upper case, accents, and other ways to write the same
    /// letter.
    package static func folded(_ text: String) -> String {
        guard let decomposed = g_utf8_normalize(text, -1, G_NORMALIZE_ALL) else { return text }
        defer { g_free(decomposed) }
        let letters = String(cString: decomposed).unicodeScalars.filter {
            $0.properties.generalCategory != .nonspacingMark
        }
        guard let folded = g_utf8_casefold(String(String.UnicodeScalarView(letters)), -1) else {
            return text
        }
        defer { g_free(folded) }
        return String(cString: folded)
    }
}

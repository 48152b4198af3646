// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// Text, as people compare it.
package enum Text {
    /// `text` for comparison in a search: neither case nor accents count.
    package static func folded(_ text: String) -> String {
        guard let normalized = g_utf8_normalize(text, -1, G_NORMALIZE_ALL) else { return text.lowercased() }
        defer { g_free(normalized) }
        var folded = String.UnicodeScalarView()
        for scalar in String(cString: normalized).unicodeScalars
        where scalar.properties.canonicalCombiningClass == .notReordered {
            folded.append(scalar)
        }
        return String(folded).lowercased()
    }

    /// What sorts `text` as the user's language does.
    package static func sortKey(_ text: String) -> String {
        guard let key = g_utf8_collate_key(folded(text), -1) else { return text }
        defer { g_free(key) }
        return String(cString: key)
    }

    /// The most characters that are searched for.
    static let longestQuery = 256

    /// `text` as something to search for. Each word is looked for in each contact, so there must not be thousands.
    package static func query(_ text: String) -> String {
        String(withoutControls(text, keepsLines: false).unicodeScalars.prefix(longestQuery))
    }

    /// `text` without characters that would break lines or turn the direction of what stands around it.
    package static func withoutControls(_ text: String, keepsLines: Bool) -> String {
        let isForbidden: (Unicode.Scalar) -> Bool = { scalar in
            switch scalar.value {
            case 0x0a, 0x09: !keepsLines
            case 0x202a...0x202e, 0x2066...0x2069: true
            default: scalar.properties.generalCategory == .control
            }
        }
        guard text.unicodeScalars.contains(where: isForbidden) else { return text }
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { kept.append(isForbidden(scalar) ? " " : scalar) }
        return String(kept)
    }
}

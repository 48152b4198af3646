// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CAdwaita

/// Text in places that understand markup.
package enum Markup {
    /// `text` as it has to be written in such a place, so that it is shown as it is.
    package static func escaped(_ text: String) -> String {
        guard let escaped = g_markup_escape_text(text, -1) else { return "" }
        defer { g_free(escaped) }
        return String(cString: escaped)
    }
}

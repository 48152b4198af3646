// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

extension String {
    /// How many columns of a terminal the text takes, according to GLib's Unicode tables.
    var displayWidth: Int {
        var width = 0
        for scalar in unicodeScalars {
            if g_unichar_iszerowidth(scalar.value) != 0 { continue }
            width += g_unichar_iswide(scalar.value) != 0 ? 2 : 1
        }
        return width
    }

    /// The text, with enough spaces after it to make it `width` columns wide.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - displayWidth))
    }

    /// The text, as much of it as `width` columns hold, with an ellipsis in the last of them if that is not all, as wide as the
    /// locale shows it.
    func cut(to width: Int) -> String {
        if displayWidth <= width { return self }
        let ellipsis = Terminal.fit("…")
        var text = ""
        for character in self {
            guard (text + String(character) + ellipsis).displayWidth <= width else { break }
            text.append(character)
        }
        return text + ellipsis
    }
}

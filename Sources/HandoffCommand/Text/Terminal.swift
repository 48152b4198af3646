// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Where the command prints to.
enum Terminal {
    /// Whether the character set of the locale is UTF-8; without a locale it is ASCII.
    static let isUnicode: Bool = {
        setlocale(LC_CTYPE, "")
        return g_get_charset(nil) != 0
    }()

    /// How many columns the terminal has that `descriptor` is; nil if it is none, or does not tell.
    static func columns(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    /// Whether somebody can be asked: input and messages are those of a terminal.
    static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// `text` as the locale can show it: as it is, or else in ASCII, with what comes nearest to each other character, and
    /// a question mark where nothing does.
    static func fit(_ text: String) -> String { isUnicode ? text : ascii(text) }

    /// `text` in ASCII.
    static func ascii(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        // The program's own quotation marks become those of a keyboard; GLib's table makes commas of some.
        let plain = text.replacingScalars(["“": "\"", "”": "\"", "„": "\"", "‘": "'", "’": "'", "…": "..."])
        guard let converted = g_str_to_ascii(plain, nil) else { return plain }
        defer { g_free(converted) }
        return String(cString: converted)
    }
}

extension String {
    /// The text, with each of these characters replaced by what stands for it.
    fileprivate func replacingScalars(_ replacements: [Unicode.Scalar: String]) -> String {
        unicodeScalars.reduce(into: "") { text, scalar in
            if let replacement = replacements[scalar] {
                text += replacement
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}

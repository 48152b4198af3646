// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// Text in the words that a shell would see, if it replaced nothing.
package enum ShellWords {
    /// The words of `text`, with all quoting removed.
    /// - Throws: if a quote is not closed, or there is no word.
    package static func split(_ text: String) throws(GLibError) -> [String] {
        var words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        _ = try throwingGError { g_shell_parse_argv(text, nil, &words, $0) }
        return KeyFile.strings(words)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// What somebody types who is asked something.
package enum TypedAnswer {
    /// Whether `line`, the answer to a question that ends with “[y/N]”, says yes; nil if it says neither yes nor no. Nothing, and
    /// the end of the input, say no.
    package static func agrees(_ line: String?) -> Bool? {
        // Translators: what is typed to agree, as a letter and as a word. It has to be what the question asks for.
        let yes = ["y", "yes", tr("y"), tr("yes")]
        let said = (line ?? "").lowercased().filter { !$0.isWhitespace }
        if yes.contains(said) { return true }
        return ["", "n", "no", tr("n"), tr("no")].contains(said) ? false : nil
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import Platform
import Testing

@Suite("Text as it is searched")
struct FoldedTextTests {
    @Test(
        "is without upper case and accents, and each letter is written in one way",
        arguments: [
            ("Müller", "muller"), ("MU\u{308}LLER", "muller"), ("Straße", "strasse"), ("ﬁle", "file"),
            ("Ελλάδα", "ελλαδα"), ("Łódź", "łodz"), ("１２", "12"), ("東京", "東京"), ("", ""), ("a\u{0}b", "a"),
        ])
    func folds(text: String, expected: String) { #expect(FoldedText.folded(text) == expected) }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// Groups of digits that could be taken for a code that is being compared: six digits or more, in any script,
/// with anything but words between them, and including letters that look like digits.
enum CodeLikeDigits {
    /// The number of digits in a code.
    private static let length = 6
    /// How many of these have to be real digits: a word made only of letters that look like digits is still a
    /// word.
    private static let fewestReal = 3
    /// This many letters between two digits separate them into two groups.
    private static let letters = 2

    /// What is shown in place of a digit of such a group.
    private static let blot: Unicode.Scalar = "#"

    /// `text` without such groups.
    static func blotted(_ text: String) -> String {
        var scalars = Array(text.unicodeScalars)
        // What is left of a word whose digits are gone may look like digits in turn. Each round takes some
        // away, so this ends.
        while blot(&scalars) {}
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    /// A group that is being read.
    private struct Group {
        var places: [Int] = []
        var digits = 0
        var real = 0

        var isCode: Bool { digits >= CodeLikeDigits.length && real >= CodeLikeDigits.fewestReal }
    }

    /// Blots out the groups in `scalars` and returns whether there was one.
    private static func blot(_ scalars: inout [Unicode.Scalar]) -> Bool {
        let looks = lookAlikes(in: scalars)
        var found: [Int] = []
        var group = Group()
        var between = 0
        for (place, scalar) in scalars.enumerated() {
            let digits = digits(of: scalar)
            if digits > 0 || looks[place] {
                group.places.append(place)
                group.digits += max(1, digits)
                group.real += digits
                between = 0
            } else if scalar.properties.isAlphabetic {
                between += 1
                if between < letters { continue }
                if group.isCode { found += group.places }
                group = Group()
            }
        }
        if group.isCode { found += group.places }
        for place in found { scalars[place] = blot }
        return !found.isEmpty
    }

    /// How many digits a scalar shows; 0 if it is not a digit. A digit of any script, in a circle, or as a
    /// numeral counts.
    private static func digits(of scalar: Unicode.Scalar) -> Int {
        guard let value = scalar.properties.numericValue else { return 0 }
        return value < 10 ? 1 : value < 100 ? 2 : 3
    }

    /// Where there are letters that look like digits, in words that consist of nothing else.
    private static func lookAlikes(in scalars: [Unicode.Scalar]) -> [Bool] {
        var looks = [Bool](repeating: false, count: scalars.count)
        var start = 0
        func close(_ end: Int) {
            let word = scalars[start..<end]
            let isCodeLike = word.allSatisfy { digits(of: $0) > 0 || looksLikeDigit($0) }
            for place in word.indices where isCodeLike && digits(of: scalars[place]) == 0 {
                looks[place] = true
            }
        }
        for (place, scalar) in scalars.enumerated()
        where !scalar.properties.isAlphabetic && digits(of: scalar) == 0 && !looksLikeDigit(scalar) {
            close(place)
            start = place + 1
        }
        close(scalars.count)
        return looks
    }

    private static func looksLikeDigit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "O", "o", "Q", "D", "I", "l", "|", "Z", "S", "B", "b", "G", "q": true
        // Fullwidth, Greek, Cyrillic, Armenian and Arabic ones.
        case "Ｏ", "ｏ", "Ｉ", "ｌ", "Ｓ", "Ｚ", "Ｂ", "Ο", "ο", "Ι", "Β", "Ζ", "О", "о", "І", "З", "з", "б", "В",
            "Ѕ", "օ", "ا":
            true
        default: false
        }
    }
}

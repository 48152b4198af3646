// SPDX-License-Identifier: LGPL-2.1-or-later

/// Text that somebody else chose (a peer, a stranger nearby, another application), fit to be shown in a place of its
/// own: in quotation marks, a cell of a table, or a line.
///
/// It cannot leave that place, for nothing in it ends a quotation, a line or a column, or changes the
/// direction of writing; and a name cannot pass for a code that two people compare. Apart from that it reads
/// as before, and doing this twice changes nothing more.
package struct ChosenText: Equatable, Sendable {
    /// What is shown.
    package let shown: String

    /// The most that is shown of a title, in characters.
    package static let maximumTitle = 120

    /// The name of a device. It may be shown where a code is compared, so what looks like a group of as many digits
    /// as a code has is blotted out.
    package init(name: String) {
        shown = CodeLikeDigits.blotted(Self.contained(name, limit: PeerText.maximumName))
    }

    /// A title, or any other text that is never shown where a code is compared.
    package init(title: String) {
        shown = Self.contained(title, limit: Self.maximumTitle)
    }

    /// The message of an error, which may be in somebody else's words.
    package init(message: String) {
        shown = Self.contained(message, limit: PeerText.maximumMessage)
    }

    /// The text in quotation marks, which is where it ends.
    package var quoted: String { "“\(shown)”" }

    // MARK: Containing

    private static func contained(_ text: String, limit: Int) -> String {
        var kept = String.UnicodeScalarView()
        var marks = 0
        for scalar in text.unicodeScalars.prefix(16 * limit) {
            guard let shown = shown(scalar, after: kept.last) else { continue }
            marks = isMark(shown) ? marks + 1 : 0
            // The first mark would sit on what comes before the text, and a tower of marks on the lines
            // above.
            if marks > 0, kept.isEmpty || marks > maximumMarks { continue }
            kept.append(shown)
        }
        if kept.last == " " { kept.removeLast() }
        let whole = String(kept)
        // This is not counted in characters, since a single one may be endless.
        guard text.unicodeScalars.count > 16 * limit || whole.count > limit else { return whole }
        return whole.prefix(limit - 1).description.trimmingLastSpace + "…"
    }

    /// How many marks one letter may carry.
    private static let maximumMarks = 4

    /// What is shown in place of `scalar` after `former`; nil for nothing.
    private static func shown(_ scalar: Unicode.Scalar, after former: Unicode.Scalar?) -> Unicode.Scalar? {
        if scalar.isASCII, scalar.properties.isAlphabetic { return scalar }
        if isBlank(scalar) { return former == nil || former == " " ? nil : " " }
        if isQuote(scalar) { return former == "'" ? nil : "'" }
        if isUnshowable(scalar) { return "\u{FFFD}" }
        if scalar.properties.isDefaultIgnorableCodePoint { return joins(scalar) ? scalar : nil }
        return scalar
    }

    /// Whether it takes up room without showing anything; several of these could imitate a column.
    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Line and paragraph separators are white space, but are more than blank.
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: false
        // The fillers of Hangul, the empty pattern of Braille, the blanks of hieroglyphs, and the head of no note.
        case 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0, 0x13441, 0x13442, 0x1D159: true
        default: scalar.properties.isWhitespace
        }
    }

    /// Whether it could be taken for a quotation mark, or for a part of one.
    private static func isQuote(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.isQuotationMark { return true }
        switch scalar.value {
        // Accents and modifier letters that stand alone; primes; the ditto mark; ornaments; the Hebrew and Armenian ones.
        case 0x60, 0xB4, 0x02B9...0x02BF, 0x02C8, 0x02CA, 0x02CB, 0x02DD, 0x02EE, 0x02F4, 0x02F5, 0x02F6,
            0x055A, 0x05F3, 0x05F4, 0x1FBD, 0x1FBF, 0x1FEF, 0x1FFD, 0x1FFE, 0x2032...0x2037, 0x2057,
            0x275B...0x2760, 0x3003, 0xFF40, 0x1F676...0x1F678:
            return true
        default: return false
        }
    }

    /// Whether a terminal might do something else with it than show it, or nobody can say how it is shown.
    private static func isUnshowable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .surrogate, .privateUse, .unassigned: true
        default: PeerText.isControl(scalar)
        }
    }

    /// Whether it is invisible but makes one picture, or another letter, of what stands beside it.
    private static func joins(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value == 0x200C || scalar.value == 0x200D || scalar.properties.isVariationSelector
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        // A character that joins letters must not hide a tower of marks.
        case .format: joins(scalar)
        default: false
        }
    }
}

extension String {
    fileprivate var trimmingLastSpace: String { last == " " ? String(dropLast()) : self }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

extension Unicode.Scalar {
    /// Whether a terminal might do something else with it than show it: control characters, line and paragraph
    /// separators, and what changes the direction of writing.
    var steersTerminal: Bool {
        if isASCII { return value < 0x20 || value == 0x7F }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        default: return properties.isBidiControl
        }
    }
}

extension String {
    /// The text with everything replaced that could steer a terminal. The daemons have done this for what
    /// peers send, but nothing is printed in reliance on that alone.
    var shown: String {
        guard unicodeScalars.contains(where: \.steersTerminal) else { return self }
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars { result.append(scalar.steersTerminal ? "\u{FFFD}" : scalar) }
        return String(result)
    }

    /// The text in quotation marks, made fit to be shown.
    var quoted: String { "“\(shown)”" }
}

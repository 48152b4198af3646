// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

extension String {
    /// The text with everything replaced that could steer a terminal. The daemons have done this for what
    /// peers send, but nothing is printed in reliance on that alone.
    var shown: String {
        guard unicodeScalars.contains(where: PeerText.isControl) else { return self }
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars { result.append(PeerText.isControl(scalar) ? "\u{FFFD}" : scalar) }
        return String(result)
    }

    /// The text in quotation marks, made fit to be shown.
    var quoted: String { "“\(shown)”" }
}

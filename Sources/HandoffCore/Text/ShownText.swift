// SPDX-License-Identifier: LGPL-2.1-or-later

extension String {
    /// The text with everything replaced that could steer a terminal. The daemons have done this for what
    /// peers send, but nothing is printed in reliance on that alone.
    package var shown: String {
        guard unicodeScalars.contains(where: PeerText.isControl) else { return self }
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars { result.append(PeerText.isControl(scalar) ? "\u{FFFD}" : scalar) }
        return String(result)
    }

    /// The text, with a full stop added if it does not end with one.
    package var sentence: String {
        guard let last, !".!?:”".contains(last) else { return self }
        return self + "."
    }
}

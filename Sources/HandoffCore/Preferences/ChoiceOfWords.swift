// SPDX-License-Identifier: LGPL-2.1-or-later

extension CaseIterable where Self: RawRepresentable, RawValue == String {
    /// The one that `text` stands for, which somebody has written to say `what`.
    /// - Throws: `invalidArguments`, naming the texts that stand for something.
    static func word(_ text: String, saying what: String) throws(HandoffFailure) -> Self {
        if let word = Self(rawValue: text) { return word }
        let list = allCases.map(\.rawValue).joined(separator: ", ")
        throw HandoffFailure(
            .invalidArguments, "“\(PeerText.message(text))” does not say \(what). Use one of \(list).")
    }
}

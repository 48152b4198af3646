// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

extension ClipboardKind {
    /// What the command line calls it.
    var word: String {
        switch self {
        case .text: "text"
        case .html: "html"
        case .image: "image"
        case .files: "files"
        }
    }

    /// The kind that an argument names, by its word or its MIME type; nil if it names none.
    init?(argument: String) {
        let text = argument.lowercased()
        let kind =
            Self.allCases.first { $0.word == text || $0.rawValue == text } ?? ClipboardKind(spelling: text)
        guard let kind else { return nil }
        self = kind
    }
}

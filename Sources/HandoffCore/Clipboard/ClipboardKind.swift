// SPDX-License-Identifier: LGPL-2.1-or-later

/// What of a clipboard can go to other devices. The raw value is the type by which devices and clients name it.
package enum ClipboardKind: String, CaseIterable, Sendable {
    /// Text, in UTF-8.
    case text = "text/plain"
    /// HTML.
    case html = "text/html"
    /// An image, in PNG.
    case image = "image/png"
    /// Files: their URLs, each in a line (RFC 2483).
    case files = "text/uri-list"

    /// The types by which programs of a desktop know it, the best first: MIME types and targets of X11. A program that wants it
    /// finds one of them, and whoever offers it has one of them.
    package var spellings: [String] {
        switch self {
        // The encoding of “text/plain” alone depends on who says it; that of “STRING” is not UTF-8 (ICCCM 2.6.2).
        case .text: ["text/plain;charset=utf-8", "UTF8_STRING", "text/plain"]
        case .html, .image, .files: [rawValue]
        }
    }

    /// Which kinds `types`, which a program offers, stand for, and by which of them each is asked for: none if they say that it
    /// is a secret, or nothing new.
    package static func offered(as types: [String]) -> [(kind: ClipboardKind, type: String)] {
        guard !types.contains(where: { marks.contains($0) }) else { return [] }
        return allCases.compactMap { kind in
            kind.spellings.lazy.compactMap { spelling in
                // A type that has more parameters, such as a name, is another one.
                types.first { $0.lowercased() == spelling.lowercased() }
            }.first.map { (kind, $0) }
        }
    }

    /// The kind that a program asks for by `type`; nil if it is none.
    package init?(spelling type: String) {
        guard let kind = Self.allCases.first(where: { $0.spellings.contains(type) }) else { return nil }
        self = kind
    }

    /// By this type password managers mark what they copy. Clipboard managers leave alone what has it, and do not keep it.
    package static let secretMark = "x-kde-passwordManagerHint"
    /// By this type Handoff marks what it has brought, in case that a clipboard manager makes it its own.
    package static let broughtMark = "application/x-handoff-brought"
    /// The last one is that of what Klipper only puts back.
    private static let marks: Set<String> = [
        secretMark, broughtMark, "application/x-kde-onlyReplaceEmpty",
    ]

    /// Whether `head`, the first ``headSize`` bytes of a content, can be of this kind, as far as it tells.
    package func canBegin(with head: [UInt8]) -> Bool {
        switch self {
        case .text, .html, .files: true
        // PNG specification, 5.2.
        case .image: head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        }
    }

    /// How many bytes of a content tell what it can be.
    package static let headSize = 8
}

// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore
package import HandoffInterfaces
internal import Platform

/// What the content of a clipboard is, for people, who may be in company: never what is in it.
package struct ClipboardSummary: Equatable, Sendable {
    /// What it can be had as, the best first.
    package let kinds: [ClipboardKind]
    /// How many bytes it has as the best of them; nil if that is not known.
    package let size: UInt64?
    /// How many characters its text has; nil if that is not known, or it has none.
    package let characters: UInt64?

    /// Of which nothing more is known.
    package init(_ kinds: [ClipboardKind]) { (self.kinds, size, characters) = (kinds, nil, nil) }

    /// What `Paste` or `Send` of `org.example.Handoff.Clipboard` have answered.
    package init(_ about: [String: Value]) {
        let types = about["Types"]?.strings ?? []
        let sizes = about["Sizes"]?.numbers ?? []
        let known = zip(types, sizes).compactMap { type, size in
            ClipboardKind(rawValue: type).map { ($0, size) }
        }
        kinds = known.map(\.0)
        size = known.first?.1
        characters = about["Characters"].flatMap { if case .uint64(let count) = $0 { count } else { nil } }
    }

    /// A content.
    package init(_ content: ClipboardContent) { self.init(content.about) }

    /// What it is, such as “Text, 214 characters”.
    package var text: String {
        // File managers have the names as a text beside it.
        if kinds.contains(.files) { return tr("Files") }
        // A page has its text beside it, and an image is no text.
        if kinds.contains(.image), !kinds.contains(.text) {
            return size.map { tr("Image, {size}", ["size": ByteCount.text($0)]) } ?? tr("Image")
        }
        if let characters {
            return trn(
                "Text, {count} character", "Text, {count} characters", count: Int(clamping: characters))
        }
        if kinds.contains(.text) { return tr("Text") }
        return kinds.contains(.html) ? tr("HTML") : tr("Nothing")
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore

/// A document's description as the `about` of `OpenDocument`.
extension DocumentDescription {
    private enum Key {
        static let name = "Name"
        static let size = "Size"
        static let contentType = "ContentType"
        static let modified = "Modified"
        static let id = "Document"
    }

    /// What `about` says; what is not listed in the interface is ignored.
    /// - Throws: `InvalidArgs` naming a key whose value is of another type, or too long.
    package init(_ about: [String: Value]) throws(HandoffFailure) {
        try self.init(
            name: about.listed(Key.name, "s", \.string) ?? "",
            size: about.listed(Key.size, "t") { if case .uint64(let size) = $0 { size } else { nil } },
            contentType: about.listed(Key.contentType, "s", \.string) ?? "",
            modified: about.listed(Key.modified, "x") {
                if case .int64(let time) = $0 { time } else { nil }
            },
            id: about.listed(Key.id, "s", \.string).map { (text) throws(HandoffFailure) in
                try DocumentID(checking: text)
            })
    }

    /// The description as a dictionary.
    package var about: [String: Value] {
        var about: [String: Value] = [:]
        if !name.isEmpty { about[Key.name] = .string(name) }
        if let size { about[Key.size] = .uint64(size) }
        if !contentType.isEmpty { about[Key.contentType] = .string(contentType) }
        if let modified { about[Key.modified] = .int64(modified) }
        if let id { about[Key.id] = .string(id.description) }
        return about
    }
}

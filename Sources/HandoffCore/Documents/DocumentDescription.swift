// SPDX-License-Identifier: LGPL-2.1-or-later

/// What the origin says about a document that it sends: suggestions, none of which the receiver trusts.
package struct DocumentDescription: Hashable, Sendable {
    /// The longest name and the longest type, in bytes.
    package static let maximumLength = 255

    /// The name of the file, without a folder; empty if it is not known. Anything may be in it.
    package let name: String
    /// How many bytes the document has; nil if that is not known.
    package let size: UInt64?
    /// The MIME type; empty if it is not known. Anything may be in it.
    package let contentType: String
    /// When the document was modified, in microseconds since the Unix epoch; nil if that is not known.
    package let modified: Int64?
    /// By what the devices know it that have it; nil if it has no id, as far as is known.
    package var id: DocumentID?

    /// A description with these values.
    /// - Throws: `invalidArguments` for a text that is too long.
    package init(
        name: String, size: UInt64? = nil, contentType: String = "", modified: Int64? = nil,
        id: DocumentID? = nil
    ) throws(HandoffFailure) {
        try Self.check(name, "Name")
        try Self.check(contentType, "ContentType")
        self.name = name
        self.size = size
        self.contentType = contentType
        self.modified = modified == 0 ? nil : modified
        self.id = id
    }

    private static func check(_ text: String, _ key: String) throws(HandoffFailure) {
        guard text.utf8.count <= maximumLength else {
            throw HandoffFailure(
                .invalidArguments, "\(key) has \(text.utf8.count) bytes. Give at most \(maximumLength).")
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// What tells one content of a document from another one: its SHA-256 and its size.
package struct ContentMark: Hashable, Sendable, LosslessStringConvertible {
    /// How many bytes it has.
    package let size: UInt64
    private let digest: String

    /// The mark of content with this SHA-256, in hexadecimal.
    package init(_ digest: String, size: UInt64) { (self.digest, self.size) = (digest, size) }

    /// The mark of content that nobody has read, which is like no other one.
    package static func unread(size: UInt64) -> ContentMark { ContentMark("", size: size) }

    /// The mark that is written as `description`; nil if that is none.
    package init?(_ description: String) {
        let parts = description.split(separator: ":")
        guard parts.count == 2, let size = UInt64(parts[1]) else { return nil }
        self.init(String(parts[0]), size: size)
    }

    /// The digest and the size.
    package var description: String { "\(digest):\(size)" }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// The folder that the user has chosen for documents that come over from other devices.
package struct DocumentsFolder: Hashable, Sendable {
    /// How the user has written it, perhaps with `~/` at its beginning.
    package let text: String
    /// Where it is: absolute, without a slash at the end.
    package let path: String

    /// The folder written as `text`, for a user whose home folder is `home`.
    /// - Throws: `invalidArguments` unless that is the absolute path of a folder other than `/`, without “.”, “..”, empty
    ///   parts and control characters. Nothing is looked up: whether the folder can be used is found out when a document
    ///   comes.
    package init(_ text: String, home: String) throws(HandoffFailure) {
        let whole =
            text.utf8.starts(with: "~/".utf8)
            ? home + String(decoding: text.utf8.dropFirst(), as: UTF8.self) : text
        var path = whole.utf8[...]
        while path.count > 1, path.last == SharedFolder.slash { path.removeLast() }
        // What is kept is how it was written.
        guard path.count > 1, whole.utf8.count <= Self.maximumPath, SharedFolder.isAbsolute(Array(path)[...]),
            !whole.unicodeScalars.contains(where: PeerText.isControl),
            let plain = String(path)
        else {
            throw HandoffFailure(
                .invalidArguments,
                "“\(PeerText.message(text))” cannot be the folder for documents. Give the absolute path of a folder other"
                    + " than /, without “.”, “..”, empty parts and control characters; ~/ at its beginning stands for the"
                    + " home folder. An empty text stands for Handoff in the folder for downloads.")
        }
        (self.text, self.path) = (text, plain)
    }

    /// What it is called in the folder for downloads, if the user has chosen no other.
    package static let usualName = "Handoff"

    /// How many bytes a path may have, so that a document in the folder still has one that the system takes.
    private static let maximumPath = SharedFolder.maximumPath - DocumentName.maximumBytes - 1

    /// The folder that the absolute `path` is in, and what it is called there.
    package static func parts(of path: String) -> (above: String, name: String) {
        // A character may be made of a slash and what follows it.
        guard let slash = path.utf8.lastIndex(of: SharedFolder.slash) else { return ("/", path) }
        let above = String(decoding: path.utf8[..<slash], as: UTF8.self)
        let name = String(decoding: path.utf8[slash...].dropFirst(), as: UTF8.self)
        return (above.isEmpty ? "/" : above, name)
    }
}

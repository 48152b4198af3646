// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// Which texts go along as they are.
enum TextFile {
    /// How long a text that was not saved may be to go along, in bytes.
    static let maximumText = 96 << 10

    /// The text in the file at `path`; nil if it is none, too long to go along, or has marks that editors write and do not
    /// show: a byte order mark, or line ends of another system. This may block.
    static func text(_ path: String) -> String? {
        guard let bytes = (try? SmallFile.read(path, maximumSize: maximumText)) ?? nil,
            !bytes.contains(UInt8(ascii: "\r")), !bytes.starts(with: [0xEF, 0xBB, 0xBF]),
            let text = String(validating: bytes, as: UTF8.self), EditorState.isFit(text)
        else { return nil }
        return text
    }
}

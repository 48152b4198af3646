// SPDX-License-Identifier: LGPL-2.1-or-later

/// Kinds of documents that have pages.
///
/// What a file is called proves nothing, and neither does what a viewer says of it: only what begins like such a document
/// is offered to other devices, or opened because one of them asked. No key, no settings and no program does.
enum DocumentFormat: String, CaseIterable, Sendable {
    /// PDF.
    case pdf
    /// PostScript, also encapsulated.
    case postScript
    /// DjVu.
    case djvu
    /// TIFF.
    case tiff
    /// DVI.
    case dvi
    /// An archive of pages: XPS, EPUB, or a comic book.
    case archive

    /// How much of the beginning of a file is looked at.
    static let head = 1024

    /// What a file called `name` is that begins with `bytes`; nil if it is no document with pages.
    init?(name: String, bytes: [UInt8]) {
        let head = bytes.prefix(Self.head)
        if head.starts(with: "%PDF-".utf8) || Self.holdsHeader(head) {
            self = .pdf
        } else if head.starts(with: "%!PS".utf8) || head.starts(with: [4, 0x25, 0x21, 0x50, 0x53])
            || head.starts(with: [0xC5, 0xD0, 0xD3, 0xC6])
        {
            self = .postScript
        } else if head.starts(with: "AT&TFORM".utf8) {
            self = .djvu
        } else if head.starts(with: [0x49, 0x49, 0x2A, 0]) || head.starts(with: [0x4D, 0x4D, 0, 0x2A]) {
            self = .tiff
        } else if head.starts(with: [0xF7, 2]), Self.ending(of: name) == "dvi" {
            self = .dvi
        } else if Self.isArchive(head), Self.archives.contains(Self.ending(of: name)) {
            self = .archive
        } else {
            return nil
        }
    }

    /// Readers take a PDF whose header is not the first thing in the file, as long as that is nothing readable.
    private static func holdsHeader(_ head: ArraySlice<UInt8>) -> Bool {
        let blank = head.prefix { $0 <= 0x20 || $0 >= 0x80 }
        return blank.count < head.count && head.dropFirst(blank.count).starts(with: "%PDF-".utf8)
    }

    private static func isArchive(_ head: ArraySlice<UInt8>) -> Bool {
        head.starts(with: [0x50, 0x4B, 3, 4]) || head.starts(with: "Rar!".utf8)
            || head.starts(with: [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C])
    }

    private static let archives: Set = ["xps", "oxps", "epub", "cbz", "cbr", "cb7"]

    private static func ending(of name: String) -> String {
        name.lastIndex(of: ".").map { name[$0...].dropFirst().lowercased() } ?? ""
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// An application of LibreOffice that people work in.
enum OfficeApplication: String, CaseIterable, Sendable {
    case writer = "libreoffice-writer"
    case calc = "libreoffice-calc"
    case impress = "libreoffice-impress"

    /// The name of its desktop entry without `.desktop`.
    var id: String { rawValue }

    /// What people call it.
    var name: String {
        switch self {
        case .writer: "LibreOffice Writer"
        case .calc: "LibreOffice Calc"
        case .impress: "LibreOffice Impress"
        }
    }

    /// How the names of its documents end that no file held before.
    var ending: String {
        switch self {
        case .writer: "odt"
        case .calc: "ods"
        case .impress: "odp"
        }
    }

    /// What the office is given to show a window of it.
    var option: String {
        switch self {
        case .writer: "--writer"
        case .calc: "--calc"
        case .impress: "--impress"
        }
    }

    /// The program of all of them, by the names that it has.
    static let programs = ["soffice", "libreoffice"]

    /// Whether the user keeps Handoff out of all of them, by these ids of applications.
    static func areAllIn(_ excluded: [String]) -> Bool { allCases.allSatisfy { excluded.contains($0.id) } }
}

/// Kinds of documents that the office has.
///
/// What a file is called proves nothing: only what also begins like such a document is offered to other devices, or opened
/// because one of them asked. What the office would ask its user about first is none: tables in text files, and flat XML, in which
/// it asks about links.
struct OfficeFormat: Equatable, Sendable {
    /// How much of the beginning of a file is looked at.
    static let head = 128

    /// In which application such documents are shown.
    let application: OfficeApplication

    private static let packed: [String: OfficeApplication] = [
        "odt": .writer, "docx": .writer, "ods": .calc, "xlsx": .calc, "odp": .impress, "pptx": .impress,
    ]
    private static let compound: [String: OfficeApplication] = [
        "doc": .writer, "xls": .calc, "ppt": .impress,
    ]

    /// What a file called `name` is that begins with `bytes`; nil if it is none of them, or a template.
    init?(name: String, bytes: [UInt8]) {
        let ending = name.lastIndex(of: ".").map { name[$0...].dropFirst().lowercased() } ?? ""
        let application: OfficeApplication? =
            if bytes.starts(with: [0x50, 0x4B, 3, 4]) {
                Self.isTemplate(bytes) ? nil : Self.packed[ending]
            } else if bytes.starts(with: [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]) {
                Self.compound[ending]
            } else if bytes.starts(with: "{\\rtf".utf8), ending == "rtf" {
                .writer
            } else {
                nil
            }
        guard let application else { return nil }
        self.application = application
    }

    /// Whether the first entry of a package says so (OpenDocument 1.3, part 2, 3.3 “MIME Media Type”): it stands at a fixed
    /// place, neither packed nor encrypted.
    private static func isTemplate(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes.dropFirst(30).prefix(head - 30), as: UTF8.self)
        return text.hasPrefix("mimetypeapplication/vnd.oasis.opendocument.")
            && text.prefix(80).contains("-template")
    }
}

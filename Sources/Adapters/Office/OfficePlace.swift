// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffCore

/// A place in a document of the office. Whoever says it may say anything, so it is checked.
enum OfficePlace: Equatable, Sendable {
    /// A page of a text.
    case page(PageNumber)
    /// A cell of a table: the name of the sheet, and the cell's own, such as `C7`.
    case cell(sheet: String, cell: String)
    /// A slide of a presentation.
    case slide(PageNumber)

    /// How long the name of a sheet may be, in characters.
    private static let longestSheet = 255

    /// The place that these say; nil if they say none.
    private init?(page: PageNumber?, sheet: String?, cell: String?, slide: PageNumber?) {
        if let page {
            self = .page(page)
        } else if let slide {
            self = .slide(slide)
        } else if let sheet, let cell, Self.isSheet(sheet), Self.isCell(cell) {
            self = .cell(sheet: sheet, cell: cell)
        } else {
            return nil
        }
    }

    private static func isSheet(_ name: String) -> Bool {
        !name.isEmpty && name.count <= longestSheet
            && !name.unicodeScalars.contains(where: PeerText.isControl)
    }

    /// Whether `name` is that of a cell: up to three letters, and a number of up to seven digits.
    private static func isCell(_ name: String) -> Bool {
        let letters = name.utf8.prefix { 0x41...0x5A ~= $0 }
        let digits = name.utf8.dropFirst(letters.count)
        return 1...3 ~= letters.count && 1...7 ~= digits.count && digits.first != 0x30
            && digits.allSatisfy { 0x30...0x39 ~= $0 }
    }

    /// The place that a message of the extension names; nil if it names none.
    init?(_ message: JSONValue) {
        self.init(
            page: message["page"]?.integer.flatMap { PageNumber($0) }, sheet: message["sheet"]?.text,
            cell: message["cell"]?.text, slide: message["slide"]?.integer.flatMap { PageNumber($0) })
    }

    /// The place that a `UserInfo` names; nil if it names none.
    init?(_ userInfo: [String: Value]) {
        self.init(
            page: PageNumber(userInfo["page"]), sheet: userInfo["sheet"]?.string,
            cell: userInfo["cell"]?.string, slide: PageNumber(userInfo["slide"]))
    }

    /// The entries of a `UserInfo` that name it.
    var entries: [String: Value] {
        switch self {
        case .page(let page): ["page": page.value]
        case .cell(let sheet, let cell): ["sheet": .string(sheet), "cell": .string(cell)]
        case .slide(let slide): ["slide": slide.value]
        }
    }

    /// The members of a question that name it.
    var members: [String: JSONValue] {
        switch self {
        case .page(let page): ["page": .integer(page.number)]
        case .cell(let sheet, let cell): ["sheet": .string(sheet), "cell": .string(cell)]
        case .slide(let slide): ["slide": .integer(slide.number)]
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// Rows of text in columns that line up.
struct Table {
    private let headings: [String]
    private var rows: [[String]] = []

    /// A table with these headings, still without rows.
    init(_ headings: String...) { self.headings = headings }

    /// Adds a row, its cells made fit to be shown. An empty cell is shown as a dash, so that columns can be counted.
    mutating func add(_ cells: String...) { rows.append(cells.map { $0.isEmpty ? "-" : $0.shown }) }

    /// The lines, headings first, without white space at their ends.
    var lines: [String] {
        let all = [headings] + rows
        let widths = headings.indices.map { column in all.map { $0[column].displayWidth }.max() ?? 0 }
        return all.map { cells in
            cells.enumerated()
                .map { $0.offset == cells.count - 1 ? $0.element : $0.element.padded(to: widths[$0.offset]) }
                .joined(separator: "  ")
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore

/// Rows of text in columns that line up.
struct Table {
    private let headings: [String]
    private let shrinking: Set<String>
    private var rows: [[String]] = []

    /// What separates columns.
    private static let gap = "  "
    /// How narrow a column may get.
    private static let narrowest = 8

    /// A table with these headings, still without rows. `shrinking`: the headings of the columns that may be cut where a
    /// terminal is too narrow; what has to be read whole, such as ids and codes, must not be among them.
    init(_ headings: String..., shrinking: Set<String> = []) {
        self.headings = headings
        self.shrinking = shrinking
    }

    /// Adds a row, its cells made fit to be shown. An empty cell is shown as a dash, so that columns can be counted.
    mutating func add(_ cells: String...) { rows.append(cells.map { $0.isEmpty ? "-" : $0.shown }) }

    /// The lines, headings first, without white space at their ends, as wide as the terminal if standard output is one.
    var lines: [String] { lines(indent: 0) }

    /// The lines, each `indent` columns from the margin.
    func lines(indent: Int) -> [String] {
        let columns = Terminal.columns(of: STDOUT_FILENO).map { $0 - indent }
        return lines(columns: columns).map { String(repeating: " ", count: indent) + $0 }
    }

    /// The lines, cut to fit into `columns` as far as that is possible; nil for no limit.
    func lines(columns: Int?) -> [String] {
        let all = [headings] + rows
        let widths = widths(columns)
        return all.map { cells in
            zip(cells, widths).enumerated()
                .map { index, cell in
                    let text = cell.0.cut(to: cell.1)
                    return index == cells.count - 1 ? text : text.padded(to: cell.1)
                }
                .joined(separator: Self.gap)
        }
    }

    /// How wide each column is. The widest of those that may shrink does so first.
    private func widths(_ columns: Int?) -> [Int] {
        let all = [headings] + rows
        var widths = headings.indices.map { column in all.map { $0[column].displayWidth }.max() ?? 0 }
        guard let columns else { return widths }
        var excess = widths.reduce(0, +) + Self.gap.count * (widths.count - 1) - columns
        while excess > 0 {
            let candidates = widths.indices.filter {
                shrinking.contains(headings[$0])
                    && widths[$0] > max(Self.narrowest, headings[$0].displayWidth)
            }
            guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }
}

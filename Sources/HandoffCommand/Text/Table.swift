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
        self.init(headings, shrinking: shrinking)
    }

    /// The same with headings that are not always these.
    init(_ headings: [String], shrinking: Set<String> = []) {
        self.headings = headings
        self.shrinking = shrinking
    }

    /// Adds a row, its cells made fit to be shown. An empty cell is shown as a dash, so that columns can be counted.
    mutating func add(_ cells: String...) { add(cells) }

    /// The same with as many cells as there are headings.
    mutating func add(_ cells: [String]) { rows.append(cells.map { $0.isEmpty ? "-" : $0.shown }) }

    /// The lines, headings first, without white space at their ends, as wide as the terminal if standard output is one.
    var lines: [String] { lines(indent: 0) }

    /// The lines, each `indent` columns from the margin.
    func lines(indent: Int) -> [String] {
        let columns = Terminal.columns(of: STDOUT_FILENO).map { $0 - indent }
        let margin = String(repeating: " ", count: indent)
        return lines(columns: columns).map { margin + $0.replacing("\n", with: "\n" + margin) }
    }

    /// The headings and the rows, cut to fit into `columns` as far as that is possible; nil for no limit. Where it is not, each
    /// goes on in further lines, a bit from the margin, which are part of the same text.
    func lines(columns: Int?) -> [String] {
        let widths = widths(columns)
        let groups = Self.groups(widths, columns)
        return ([headings] + rows).map { cells in
            groups.map { group in
                group.map { index in
                    let text = cells[index].cut(to: widths[index])
                    return index == group.upperBound - 1 ? text : text.padded(to: widths[index])
                }
                .joined(separator: Self.gap)
            }
            .joined(separator: "\n" + Self.gap)
        }
    }

    /// Which columns stand beside each other in a line.
    private static func groups(_ widths: [Int], _ columns: Int?) -> [Range<Int>] {
        guard let columns else { return [0..<widths.count] }
        var groups: [Range<Int>] = []
        var (start, used) = (0, 0)
        for (index, width) in widths.enumerated() {
            let wanted = index == 0 ? width : used + gap.count + width
            if index > start, wanted > columns {
                groups.append(start..<index)
                (start, used) = (index, gap.count + width)
            } else {
                used = wanted
            }
        }
        return groups + [start..<widths.count]
    }

    /// How wide each column is. The widest of those that may shrink does so first; but where that is not enough, each has a line
    /// for itself if it needs one.
    private func widths(_ columns: Int?) -> [Int] {
        let all = [headings] + rows
        var widths = headings.indices.map { column in all.map { $0[column].displayWidth }.max() ?? 0 }
        guard let columns else { return widths }
        let whole = widths
        var excess = widths.reduce(0, +) + Self.gap.count * (widths.count - 1) - columns
        while excess > 0 {
            let candidates = widths.indices.filter {
                shrinking.contains(headings[$0])
                    && widths[$0] > max(Self.narrowest, headings[$0].displayWidth)
            }
            guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else {
                return whole.enumerated().map { index, width in
                    shrinking.contains(headings[index])
                        ? min(width, max(Self.narrowest, columns - Self.gap.count)) : width
                }
            }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }
}

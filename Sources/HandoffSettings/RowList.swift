// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import GTKObjects

/// A row that shows one thing after another, of one kind.
@MainActor
protocol ContentRow: AnyObject {
    /// What it shows.
    associatedtype Content: Equatable & Identifiable where Content.ID == String

    /// The row, as a list box takes it.
    var widget: GTKObject { get }

    /// Shows `content`.
    func show(_ content: Content)
}

/// The rows of a list box. A row stays for as long as what it shows is there, so that nobody loses the keyboard or an open
/// menu because something else has changed.
@MainActor
final class RowList<Row: ContentRow> {
    private let box: GTKObject
    private let make: (Row.Content) -> Row
    private var rows: [String: Row] = [:]
    private var shown: [Row.Content] = []

    /// The rows of `box`, which has none yet; `make` makes one.
    init(_ box: GTKObject, _ make: @escaping (Row.Content) -> Row) {
        self.box = box
        self.make = make
        box[flag: "visible"] = false
    }

    /// Shows `contents`, in this order. Of several with one id, the first counts.
    func set(_ contents: [Row.Content]) {
        var ids: Set<String> = []
        let contents = contents.filter { ids.insert($0.id).inserted }
        guard contents != shown else { return }
        let former = Dictionary(shown.map { ($0.id, $0) }) { first, _ in first }
        shown = contents
        for (id, row) in rows where !ids.contains(id) {
            gtk_list_box_remove(box.pointer, row.widget.pointer)
            rows[id] = nil
        }
        for (position, content) in contents.enumerated() {
            let row = rows[content.id] ?? make(content)
            if former[content.id] != content { row.show(content) }
            place(row, at: position, isNew: rows[content.id] == nil)
            rows[content.id] = row
        }
        // An empty one would be a line across the page.
        box[flag: "visible"] = !contents.isEmpty
    }

    private func place(_ row: Row, at position: Int, isNew: Bool) {
        if !isNew {
            guard gtk_list_box_get_row_at_index(box.pointer, Int32(position)) != row.widget.pointer else {
                return
            }
            gtk_list_box_remove(box.pointer, row.widget.pointer)
        }
        gtk_list_box_insert(box.pointer, row.widget.pointer, Int32(position))
    }
}

extension GTKObject {
    /// What assistive technology calls it, for what has no text of its own.
    func name(_ label: String) { handoff_set_accessible_label(pointer, label) }

    /// What assistive technology says of it after its name, for what has a text that is that of others too: what it is for.
    func describe(_ description: String) { handoff_set_accessible_description(pointer, description) }
}

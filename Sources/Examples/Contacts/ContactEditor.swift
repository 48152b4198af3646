// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import ContactsModel
import GTKObjects
import GTKSupport

/// The form in which a contact is typed.
@MainActor
final class ContactEditor {
    private let entries: [(field: Field, row: GTKObject, text: GTKObject)]
    private let note: GTKObject
    private let buffer: GTKObject
    private let problem: GTKObject
    private unowned let window: GTKObject
    /// Whether what changes was not typed.
    private var isFilling = false
    /// Called with what has changed.
    var onChange: ((_ change: (inout Draft) -> Void) -> Void)?

    /// The form in `window`, which was made from `template`.
    init(_ template: Template, _ window: GTKObject) {
        self.window = window
        entries = Field.allCases.filter { !$0.hasLines }.compactMap { field in
            let row = template["edit_\(field.rawValue)"]
            return gtk_editable_get_delegate(row.pointer).map { (field, row, GTKObject($0)) }
        }
        note = template["edit_note"]
        problem = template["form_problem"]
        guard let buffer = note[object: "buffer"] else { preconditionFailure("a text view has no text") }
        self.buffer = buffer
        for (field, row, text) in entries {
            // Every character takes one byte at least. What a contact may have must not be cut off here; what is longer is told.
            text[number: "max-length"] = field.maximumSize
            row.on("changed") { [weak self] in self?.changed(field) }
            text.on("notify::cursor-position") { [weak self] in self?.cursorMoved() }
        }
        buffer.on("changed") { [weak self] in self?.changed(.note) }
        buffer.on("notify::cursor-position") { [weak self] in self?.cursorMoved() }
        window.on("notify::focus-widget") { [weak self] in self?.cursorMoved() }
        note[object: "vadjustment"]?.on("changed") { [weak self] in self?.noteLaidOut() }
    }

    /// The note knows how wide it is, and so how high. It was given its height before, and does not ask again by itself.
    private func noteLaidOut() {
        guard let room = note[object: "vadjustment"],
            room[fraction: "upper"] > room[fraction: "page-size"]
        else { return }
        // What is asked for while the window is laid out is not heard.
        Task { [note] in gtk_widget_queue_resize(note.pointer) }
    }

    /// Puts a draft into the form; the cursor goes where it was.
    func fill(_ draft: Draft) {
        isFilling = true
        for (field, row, _) in entries where row[text: "text"] != draft[field] {
            row[text: "text"] = draft[field]
        }
        if buffer[text: "text"] != draft[.note] { buffer[text: "text"] = draft[.note] }
        isFilling = false
        show(draft, canType: true)
    }

    /// Puts the cursor where the draft has it.
    func focus(_ draft: Draft) {
        let field = draft.field ?? .name
        isFilling = true
        defer { isFilling = false }
        if let (_, row, text) = entries.first(where: { $0.field == field }) {
            gtk_text_grab_focus_without_selecting(text.pointer)
            gtk_editable_set_position(row.pointer, Int32(clamping: draft.cursor))
        } else {
            gtk_widget_grab_focus(note.pointer)
            handoff_place_cursor(buffer.pointer, Int32(clamping: draft.cursor))
        }
    }

    /// Shows whether the form takes what is typed, and why it can't be saved.
    func show(_ draft: Draft, canType: Bool) {
        for (_, row, _) in entries { row[flag: "sensitive"] = canType }
        note[flag: "sensitive"] = canType
        // An empty form needs no explanation before something was typed.
        problem[text: "label"] = draft.isChanged ? draft.problem ?? "" : ""
        problem[flag: "visible"] = !problem[text: "label"].isEmpty
    }

    private func changed(_ field: Field) {
        guard !isFilling else { return }
        let text = field.hasLines ? buffer[text: "text"] : entry(field)?.row[text: "text"] ?? ""
        onChange? { $0[field] = text }
        cursorMoved()
    }

    private func cursorMoved() {
        guard !isFilling else { return }
        let focused = gtk_window_get_focus(window.pointer)
        if let (field, row, _) = entries.first(where: { $0.text.pointer == focused }) {
            let cursor = Int(gtk_editable_get_position(row.pointer))
            onChange? {
                $0.field = field
                $0.cursor = cursor
            }
        } else if note.pointer == focused {
            let cursor = buffer[number: "cursor-position"]
            onChange? {
                $0.field = .note
                $0.cursor = cursor
            }
        }
    }

    private func entry(_ field: Field) -> (field: Field, row: GTKObject, text: GTKObject)? {
        entries.first { $0.field == field }
    }
}

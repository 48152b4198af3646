// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import GTKObjects
import GTKSupport
import Platform

/// A dialog in which a text is typed, or one of several things is chosen.
@MainActor
final class EntryDialog {
    /// Something that can be chosen instead of typing.
    struct Choice: Equatable, Identifiable {
        let id: String
        let title: String
        let detail: String
    }

    /// What can be chosen instead of typing.
    var choices: [Choice] = []
    /// What stands in the entry at first.
    var initial = ""

    private let template = Template(Templates.entry)
    private let window: GTKObject
    private var list: RowList<ChoiceRow>?
    /// Dialogs that are open, which nobody else holds.
    private static var open: [ObjectIdentifier: EntryDialog] = [:]

    /// A dialog called `title` that asks, below `text`, for what the entry is called; `accept` is on its button.
    init(_ title: String, _ text: String, entry: String, accept: String) {
        window = template["window"]
        window[text: "title"] = title
        template["text"][text: "label"] = text
        template["entry"][text: "title"] = entry
        template["accept"][text: "label"] = accept
        template["accept"].name(accept.filter { $0 != "_" })
        template["cancel"].name(tr("Cancel"))
    }

    /// Asks in front of `parent`. `done` is called with what was typed or chosen, and not if the user has thought better of it.
    func ask(over parent: GTKObject, _ done: @escaping @MainActor (String) -> Void) {
        Self.open[ObjectIdentifier(self)] = self
        let (entry, accept) = (template["entry"], template["accept"])
        entry[text: "text"] = initial
        list = RowList(template["choices"]) { [unowned self] _ in
            ChoiceRow { [unowned self] in finish($0, done) }
        }
        list?.set(choices)
        accept[flag: "sensitive"] = !initial.isEmpty
        entry.on("changed") { [unowned self] in
            template["accept"][flag: "sensitive"] = !template["entry"][text: "text"].trimmed.isEmpty
        }
        let take: @MainActor () -> Void = { [unowned self] in
            let text = template["entry"][text: "text"].trimmed
            if !text.isEmpty { finish(text, done) }
        }
        entry.on("entry-activated", take)
        accept.on("clicked", take)
        template["cancel"].on("clicked") { [unowned self] in gtk_window_close(window.pointer) }
        window.answer("close-request") { [weak self] in
            if let self { Self.open[ObjectIdentifier(self)] = nil }
            return false
        }
        gtk_window_set_transient_for(window.pointer, parent.pointer)
        gtk_window_present(window.pointer)
        gtk_widget_grab_focus(entry.pointer)
    }

    private func finish(_ text: String, _ done: @MainActor (String) -> Void) {
        // Closing may be the end of this dialog.
        let window = window
        gtk_window_close(window.pointer)
        done(text)
    }
}

/// One of several things to choose.
@MainActor
private final class ChoiceRow: ContentRow {
    let widget = GTKObject.actionRow()
    private var id = ""

    init(_ choose: @escaping @MainActor (String) -> Void) {
        widget[flag: "activatable"] = true
        widget.on("activated") { [weak self] in if let self { choose(id) } }
    }

    func show(_ content: EntryDialog.Choice) {
        id = content.id
        widget[text: "title"] = content.title
        widget[text: "subtitle"] = content.detail
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import ContactsModel
import GTKObjects
import GTKSupport

/// Shows one contact.
@MainActor
final class ContactViewer {
    private let avatar: GTKObject
    private let name: GTKObject
    private let group: GTKObject
    private let rows: [(field: Field, row: GTKObject)]
    private var contact = Contact()
    /// Called with what was copied.
    var onCopy: ((Field) -> Void)?

    /// The page of `template` that shows a contact.
    init(_ template: Template) {
        avatar = template["view_avatar"]
        name = template["view_name"]
        group = template["view_rows"]
        rows = Field.allCases.filter { $0 != .name }.map { ($0, template["view_\($0.rawValue)"]) }
        for (field, row) in rows {
            template["copy_\(field.rawValue)"].on("clicked") { [weak self, unowned row] in
                guard let self else { return }
                gdk_clipboard_set_text(gtk_widget_get_clipboard(row.pointer), contact[field])
                onCopy?(field)
            }
        }
    }

    /// Shows this contact.
    func show(_ contact: Contact) {
        self.contact = contact
        avatar[text: "text"] = contact.displayName
        name[text: "label"] = contact.displayName
        for (field, row) in rows {
            // Nobody should take the hyphen at the end of a line for a part of an address.
            row[text: "subtitle"] = "<span insert_hyphens=\"false\">\(Markup.escaped(contact[field]))</span>"
            row[flag: "visible"] = !contact[field].isEmpty
        }
        group[flag: "visible"] = rows.contains { !contact[$0.field].isEmpty }
    }
}

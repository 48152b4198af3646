// SPDX-License-Identifier: LGPL-2.1-or-later
import ContactsModel
import GTKObjects
import GTKSupport

/// A contact in the list.
@MainActor
final class ContactRow: ListRow {
    /// The whole row.
    let widget: GTKObject
    private let avatar: GTKObject
    private let name: GTKObject
    private let detail: GTKObject
    private let contact: (String) -> Contact?

    /// A row for whichever contact it is told; `contact` finds one by its id.
    init(_ contact: @escaping (String) -> Contact?) {
        let template = Template(Templates.row)
        widget = template["row"]
        avatar = template["avatar"]
        name = template["name"]
        detail = template["detail"]
        self.contact = contact
    }

    /// What stands for a contact in the list: its id, and what is seen of it, so that a row that looks different now is
    /// another one.
    static func text(_ contact: Contact) -> String {
        "\(contact.id) \(contact.displayName) \(contact.detail)"
    }

    /// The id in what ``text(_:)`` has given.
    static func id(_ text: String) -> String { String(text.prefix { $0 != " " }) }

    /// Shows the contact that `text` stands for.
    func show(_ text: String) {
        guard let contact = contact(Self.id(text)) else { return }
        avatar[text: "text"] = contact.displayName
        name[text: "label"] = contact.displayName
        detail[text: "label"] = contact.detail
        detail[flag: "visible"] = !contact.detail.isEmpty
    }
}

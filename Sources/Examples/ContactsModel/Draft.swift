// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// A contact that is being typed: what stands in the form, and where the cursor is. All of it goes along when editing is
/// continued on another device.
package struct Draft: Hashable, Codable, Sendable {
    /// What stands in the form.
    package private(set) var contact: Contact
    /// When the contact that editing began with had been changed; 0 for a new one.
    package private(set) var base: Int64
    /// The field that the cursor is in.
    package var field: Field?
    /// The characters before the cursor, as GTK counts them.
    package var cursor = 0
    /// Whether something was typed.
    package private(set) var isChanged = false

    /// A form for a new contact, or for one that there is.
    package init(_ contact: Contact = Contact()) {
        self.contact = contact
        base = contact.modified
        field = .name
        cursor = contact[.name].unicodeScalars.count
    }

    /// The form, with times that are not after `moment`, as ``Contact/changed(atMost:)`` has it.
    package func changed(atMost moment: Int64) -> Draft {
        var draft = self
        draft.contact = contact.changed(atMost: moment)
        draft.base = min(base, moment)
        return draft
    }

    /// Whether the contact has never been saved.
    package var isNew: Bool { base == 0 }

    /// What stands in a field.
    package subscript(field: Field) -> String {
        get { contact[field] }
        set {
            guard newValue != contact[field] else { return }
            contact[field] = newValue
            isChanged = true
        }
    }

    /// What people see while it is edited.
    package var title: String {
        isNew && contact.displayName == Contact().displayName ? tr("New Contact") : contact.displayName
    }

    /// Why it can't be saved; nil if it can.
    package var problem: String? {
        for field in Field.allCases where contact[field].utf8.count > field.maximumSize {
            return tr(
                "{field} is too long: shorten it to {size} bytes.",
                ["field": field.label, "size": "\(field.maximumSize)"])
        }
        guard contact.values.values.reduce(0, { $0 + $1.utf8.count }) <= Contact.maximumSize else {
            return tr(
                "The contact is too long: shorten it to {size} bytes.", ["size": "\(Contact.maximumSize)"])
        }
        let isEmpty = Field.allCases.allSatisfy { contact[$0].allSatisfy(\.isWhitespace) }
        return isEmpty ? tr("Enter a name, or anything else that you know.") : nil
    }

    /// What the title of the activity says, for the user's other devices.
    package var activityTitle: String { isNew ? title : tr("Edit {title}", ["title": title]) }

    /// Whether `stored`, the contact that saving replaces, was changed after editing began.
    package func isOlder(than stored: Contact?) -> Bool {
        guard let stored else { return false }
        return stored.modified > base
    }

    /// The contact to be saved, at a moment in microseconds since the Unix epoch. The time of a contact never goes back, so
    /// that it replaces the former one everywhere, whatever the clocks say.
    package func finished(at moment: Int64, replacing stored: Contact?) -> Contact {
        var finished = contact
        for field in Field.allCases where !field.hasLines {
            finished[field] = Text.withoutControls(contact[field], keepsLines: false)
        }
        finished.modified = max(moment, Self.after(base), Self.after(stored?.modified ?? 0))
        return finished
    }

    /// The moment after `moment`, which another device may have set to the last that there is.
    private static func after(_ moment: Int64) -> Int64 { moment == .max ? .max : moment + 1 }
}

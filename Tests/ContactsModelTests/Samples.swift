// SPDX-License-Identifier: LGPL-2.1-or-later
import ContactsModel

/// A contact with these values.
func contact(
    _ name: String, modified: Int64 = 1, id: String = Contact.newID(), _ values: [Field: String] = [:]
)
    -> Contact
{
    var contact = Contact(id: id, modified: modified)
    contact[.name] = name
    for (field, value) in values { contact[field] = value }
    return contact
}

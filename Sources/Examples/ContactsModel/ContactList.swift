// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// All contacts, sorted by name.
package struct ContactList: Sendable {
    /// A contact with what sorting and searching would otherwise work out each time.
    private struct Entry {
        let contact: Contact
        let sortKey: String
        let searchText: String

        init(_ contact: Contact) {
            self.contact = contact
            sortKey = Text.sortKey(contact.displayName)
            searchText = Text.folded(Field.allCases.map { contact[$0] }.joined(separator: "\n"))
        }

        static func precedes(_ one: Entry, _ other: Entry) -> Bool {
            (one.sortKey, one.contact.id) < (other.sortKey, other.contact.id)
        }
    }

    /// What has come of contacts that were taken over.
    package struct Merge: Equatable, Sendable {
        /// How many were not there before.
        package var added = 0
        /// How many were there, and older.
        package var updated = 0
        /// How many were there already, the same or newer.
        package var unchanged = 0

        /// So many.
        package init(added: Int = 0, updated: Int = 0, unchanged: Int = 0) {
            self.added = added
            self.updated = updated
            self.unchanged = unchanged
        }

        /// As a person reads it.
        package var text: String {
            guard added + updated > 0 else { return tr("All contacts were here already") }
            var parts: [String] = []
            if added > 0 {
                parts.append(trn("{count} contact added", "{count} contacts added", count: added))
            }
            if updated > 0 { parts.append(trn("{count} updated", "{count} updated", count: updated)) }
            return parts.joined(separator: ", ")
        }
    }

    /// The most contacts that there may be.
    package static let maximumCount = 100_000

    private var entries: [Entry] = []
    private var positions: [String: Int] = [:]

    /// A list of these; of several with one id the newest.
    package init(_ contacts: some Sequence<Contact> = []) {
        _ = merge(contacts)
    }

    /// The contacts, sorted by name.
    package var contacts: [Contact] { entries.map(\.contact) }
    /// How many there are.
    package var count: Int { entries.count }

    /// The contact with this id.
    package subscript(id: String) -> Contact? { positions[id].map { entries[$0].contact } }

    /// Those in which each word of `query` occurs, wherever; all if there is none.
    package func matching(_ query: String) -> [Contact] {
        let words = Text.folded(query).split(whereSeparator: \.isWhitespace).map(String.init)
        guard !words.isEmpty else { return contacts }
        return entries.filter { entry in words.allSatisfy(entry.searchText.contains) }.map(\.contact)
    }

    /// Puts a contact in place of the one with its id, or adds it.
    package mutating func save(_ contact: Contact) {
        if let position = positions[contact.id] { entries.remove(at: position) }
        entries.append(Entry(contact))
        sort()
    }

    /// Removes a contact.
    /// - Returns: what was removed, if it was there.
    @discardableResult
    package mutating func delete(_ id: String) -> Contact? {
        guard let position = positions[id] else { return nil }
        let contact = entries.remove(at: position).contact
        sort()
        return contact
    }

    /// Takes over contacts of another device: of two with one id the one that was changed last stays.
    package mutating func merge(_ others: some Sequence<Contact>) -> Merge {
        var result = Merge()
        for other in others {
            if let position = positions[other.id] {
                if entries[position].contact.modified < other.modified {
                    entries[position] = Entry(other)
                    result.updated += 1
                } else {
                    result.unchanged += 1
                }
            } else {
                positions[other.id] = entries.count
                entries.append(Entry(other))
                result.added += 1
            }
        }
        sort()
        return result
    }

    private mutating func sort() {
        entries.sort(by: Entry.precedes)
        positions = Dictionary(
            uniqueKeysWithValues: entries.enumerated().map { ($1.contact.id, $0) })
    }
}

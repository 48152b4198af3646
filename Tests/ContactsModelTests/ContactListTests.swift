// SPDX-License-Identifier: LGPL-2.1-or-later
import ContactsModel
import Testing

struct ContactListTests {
    let ada = contact("Ada Lovelace", [.email: "ada@example.org"])
    let zoe = contact("Zoë Émile", [.note: "met in Zürich"])
    let grace = contact("grace hopper", [.company: "Navy"])

    @Test("contacts are sorted by name, whatever the case")
    func sorting() {
        #expect(
            ContactList([zoe, grace, ada]).contacts.map(\.displayName) == [
                "Ada Lovelace", "grace hopper", "Zoë Émile",
            ])
    }

    @Test(
        "a search finds all its words, in any field, without accents and case",
        arguments: [
            ("", ["Ada Lovelace", "grace hopper", "Zoë Émile"]),
            ("  ", ["Ada Lovelace", "grace hopper", "Zoë Émile"]),
            ("ADA", ["Ada Lovelace"]), ("zoe", ["Zoë Émile"]),
            ("ë", ["Ada Lovelace", "grace hopper", "Zoë Émile"]),
            ("zurich emile", ["Zoë Émile"]), ("ada navy", []), ("navy", ["grace hopper"]),
            ("example.org", ["Ada Lovelace"]),
            ("%s .*", []),
        ])
    func searching(query: String, names: [String]) {
        #expect(ContactList([ada, zoe, grace]).matching(query).map(\.displayName) == names)
    }

    @Test("the newer of two contacts with one id stays, and equal ones are not counted as changes")
    func merging() {
        let newer = contact("Ada King", modified: 5, id: ada.id)
        let older = contact("Zoe", modified: 0, id: zoe.id)
        let other = contact("New")
        var list = ContactList([ada, zoe, grace])
        #expect(list.merge([newer, older, grace, other]) == .init(added: 1, updated: 1, unchanged: 2))
        #expect(list.contacts.map(\.displayName) == ["Ada King", "grace hopper", "New", "Zoë Émile"])
        #expect(list.merge(list.contacts) == .init(unchanged: 4))
    }

    @Test("first, last and only contacts are saved, found and deleted at their places")
    func positions() {
        var list = ContactList()
        #expect(list.delete(ada.id) == nil)
        for contact in [grace, zoe, ada] { list.save(contact) }
        for contact in [ada, grace, zoe] { #expect(list[contact.id] == contact) }
        let renamed = contact("zz", modified: 2, id: ada.id)
        list.save(renamed)
        #expect(list.contacts.last == renamed)
        #expect(list.count == 3)
        for contact in [renamed, grace, zoe] { #expect(list.delete(contact.id) == contact) }
        #expect(list.count == 0)
        #expect(list[zoe.id] == nil)
    }

    @Test("five thousand contacts are searched and sorted in less than a second")
    func many() {
        let clock = ContinuousClock()
        var list = ContactList()
        let taken = clock.measure {
            _ = list.merge((0..<5_000).map { contact("Person \($0)") })
            #expect(list.matching("person 4999").count == 1)
            list.save(contact("Person"))
        }
        #expect(taken < .seconds(5))
        #expect(list.count == 5_001)
    }

    @Test("a contact is called by the first field that says something")
    func names() {
        #expect(Contact().displayName == "No Name")
        #expect(contact(" ", [.company: "Navy\n yard"]).displayName == "Navy yard")
        #expect(contact("", [.note: "x"]).displayName == "No Name")
        #expect(contact("Ada", [.company: "Ada", .email: "a@b"]).detail == "a@b")
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import ContactsModel
import FoundationEssentials
import Testing

struct DraftTests {
    @Test("a form that travels is the same on the other side, with the field that the cursor is in")
    func travelling() throws {
        var draft = Draft(contact("Ada", modified: 7))
        draft[.phone] = "+44 20"
        draft.field = .phone
        draft.cursor = 3
        let arrived = try JSONDecoder().decode(Draft.self, from: JSONEncoder().encode(draft))
        #expect(arrived == draft)
        #expect(arrived.isChanged)
        #expect(arrived.base == 7)
        #expect(!arrived.isNew)
    }

    @Test(
        "a contact that another device has changed at the end of time can be edited all the same",
        arguments: [Int64.min, -1, .max])
    func endOfTime(modified: Int64) {
        var draft = Draft(contact("Ada", modified: modified))
        draft[.name] = "Ada L"
        #expect(draft.finished(at: 5, replacing: draft.contact).modified == max(5, modified))
        #expect(draft.finished(at: 5, replacing: nil).modified == max(5, modified))
    }

    @Test(
        "a form that another device says was changed after now is as old as now, and what is typed in it is newer"
    )
    func notYet() {
        let arrived = Draft(contact("Ada", modified: .max)).changed(atMost: 1_000)
        #expect(arrived.base == 1_000)
        #expect(arrived.contact.modified == 1_000)
        #expect(arrived.finished(at: 1_000, replacing: nil).modified == 1_001)
        let new = Draft().changed(atMost: 1_000)
        #expect(new.isNew)
        #expect(Draft(contact("Ada", modified: 7)).changed(atMost: 1_000).base == 7)
    }

    @Test("typing what is there already changes nothing")
    func unchanged() {
        var draft = Draft(contact("Ada"))
        draft[.name] = "Ada"
        #expect(!draft.isChanged)
        draft[.name] = "Ada L"
        #expect(draft.isChanged)
    }

    @Test("an empty form and one that is too long say what to do")
    func problems() {
        var draft = Draft()
        #expect(draft.problem?.contains("Enter a name") == true)
        draft[.phone] = " "
        #expect(draft.problem != nil)
        draft[.phone] = "1"
        #expect(draft.problem == nil)
        draft[.note] = String(repeating: "ü", count: 32_769)
        #expect(draft.problem == "Note is too long: shorten it to 65536 bytes.")
    }

    @Test("what is saved is newer than what it replaces, whatever the clock says")
    func times() {
        var draft = Draft(contact("Ada", modified: 100))
        draft[.email] = "a@b\u{202e}"
        #expect(draft.finished(at: 5, replacing: nil).modified == 101)
        #expect(draft.finished(at: 5, replacing: contact("Ada", modified: 300)).modified == 301)
        #expect(draft.finished(at: 500, replacing: nil).modified == 500)
        #expect(draft.finished(at: 500, replacing: nil)[.email] == "a@b ")
        #expect(draft.isOlder(than: contact("Ada", modified: 101)))
        #expect(!draft.isOlder(than: contact("Ada", modified: 100)))
        #expect(!draft.isOlder(than: nil))
    }

    @Test("a form says what it is of")
    func titles() {
        var draft = Draft()
        #expect(draft.activityTitle == "New Contact")
        draft[.name] = "Ada"
        #expect(draft.activityTitle == "Ada")
        #expect(Draft(contact("Ada")).activityTitle == "Edit Ada")
    }
}

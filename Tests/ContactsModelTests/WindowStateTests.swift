// SPDX-License-Identifier: LGPL-2.1-or-later
import ContactsModel
import Testing

struct WindowStateTests {
    private func typing(_ name: String) -> WindowState {
        var state = WindowState()
        state.edit(Draft())
        state.type { $0[.name] = name }
        return state
    }

    @Test("what was typed is unsaved until the form is left, and can't be typed while it is being saved")
    func typing() {
        var state = typing("Ada")
        #expect(state.hasUnsavedChanges && state.canSave)
        state.beginSaving()
        state.type { $0[.name] = "Eve" }
        #expect(state.draft?[.name] == "Ada")
        #expect(!state.canType && !state.canSave && state.hasUnsavedChanges)
        state.endSaving()
        #expect(state.canSave)
        state.show(nil)
        #expect(!state.hasUnsavedChanges && !state.canType)
    }

    @Test("an empty form can't be saved")
    func empty() {
        var state = WindowState()
        state.edit(Draft())
        #expect(state.canType && !state.canSave && !state.hasUnsavedChanges)
    }

    @Test("a form that was continued elsewhere takes nothing more until the user takes it back")
    func elsewhere() {
        var state = typing("Ada")
        state.continued(on: "lap")
        #expect(state.elsewhere?.device == "lap")
        state.type { $0[.name] = "Eve" }
        #expect(state.draft?[.name] == "Ada")
        #expect(!state.canSave && !state.hasUnsavedChanges)
        state.takeBack()
        state.type { $0[.name] = "Eve" }
        #expect(state.draft?[.name] == "Eve")
        #expect(state.canSave)
    }

    @Test("what only shows a contact is not continued elsewhere instead of here")
    func viewingElsewhere() {
        var state = WindowState()
        state.show(contact("Ada"))
        state.continued(on: "lap")
        #expect(state.elsewhere == nil)
    }

    @Test("a continuation that fails says why, and what was there before comes back")
    func failing() {
        var state = WindowState()
        let ada = contact("Ada")
        state.show(ada)
        state.beginContinuing(from: "desk")
        state.beginContinuing(from: "tablet")
        #expect(state.pane == .continuing(from: "tablet"))
        state.failContinuing(from: "tablet", reason: "gone")
        #expect(state.pane == .failed(from: "tablet", reason: "gone"))
        state.goBack()
        #expect(state.pane == .viewing(ada))
        state.failContinuing(from: "tablet", reason: "late")
        state.goBack()
        #expect(state.pane == .viewing(ada))
    }

    @Test("what is shown follows the file, and a contact of another device that is not in it stays")
    func following() {
        var state = WindowState()
        let ada = contact("Ada")
        let newer = contact("Ada King", modified: 9, id: ada.id)
        state.show(ada)
        state.listChanged(ContactList([newer]))
        #expect(state.viewed == newer)
        state.listChanged(ContactList([ada]))
        #expect(state.viewed == newer)
        state.listChanged(ContactList())
        #expect(state.viewed == newer)
    }

    @Test("a contact of another device says whether it is here, and whether it is newer than what is here")
    func newer() {
        var state = WindowState()
        let ada = contact("Ada")
        let newer = contact("Ada King", modified: 9, id: ada.id)
        state.show(newer)
        #expect(state.notice(ContactList()) == .notStored)
        #expect(state.notice(ContactList([ada])) == .newer)
        #expect(state.notice(ContactList([contact("Ada King", modified: 1, id: ada.id)])) == nil)
        #expect(state.notice(ContactList([newer])) == nil)
        state.listChanged(ContactList([contact("Ada L", modified: 10, id: ada.id)]))
        #expect(state.viewed?.displayName == "Ada L")
    }

    @Test("what another device has searched for is no more than somebody would type")
    func longQuery() {
        var state = WindowState()
        state.query = "Ada\u{202e}\n King"
        #expect(state.query == "Ada   King")
        state.query = String(repeating: "a ", count: 65_000)
        #expect(state.query == String(repeating: "a ", count: 128))
        // One character to people, but many to whoever compares.
        state.query = "a" + String(repeating: "\u{301}", count: 65_000)
        #expect(state.query.unicodeScalars.count == 256)
    }
}

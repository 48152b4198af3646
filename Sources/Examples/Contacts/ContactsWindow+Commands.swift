// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import ContactsModel
import GTKObjects
import GTKSupport
import Platform

/// What the user can do in a window.
extension ContactsWindow {
    /// Opens the form for a new contact.
    func new() { unlessUnsaved { $0.edit(Draft()) } }

    /// Opens the form for the contact that is shown.
    func edit() {
        guard let contact = state.viewed else { return }
        edit(Draft(contact))
    }

    /// Opens the form with what was typed in it, here or on another device.
    func edit(_ draft: Draft) {
        change { $0.edit(draft) }
        editor.fill(draft)
        editor.focus(draft)
    }

    /// Stores what stands in the form, which stays until that is done.
    func save() {
        guard state.canSave, let draft = state.draft else { return }
        change { $0.beginSaving() }
        let contact = draft.finished(at: Moment.now, replacing: store.list[draft.contact.id])
        Task {
            do {
                try await store.change { $0.save(contact) }
                change { $0.show(contact) }
            } catch {
                change { $0.endSaving() }
                editor.focus(draft)
                tell(tr("Couldn’t Save"), "\(error)")
            }
        }
    }

    /// Leaves the form, or what came from another device; asks first if something would be lost.
    func cancel() {
        switch state.pane {
        case .editing(let draft):
            unlessUnsaved { window in
                let stored = window.store.list[draft.contact.id]
                window.change { $0.show(stored) }
            }
        case .continuing:
            hasStopped = true
            change { $0.goBack() }
        case .failed:
            change { $0.goBack() }
        case .nothing, .viewing:
            break
        }
    }

    /// Shows the list alone.
    func back() { change { $0.show(nil) } }

    /// Deletes the contact that is shown. It can be undone for as long as the message is there.
    func delete() {
        // What is shown may be what another device has of it, and would be the wrong one to bring back.
        guard let contact = state.viewed.flatMap({ store.list[$0.id] }) else { return }
        change { $0.show(nil) }
        Task {
            guard await stores(tr("Couldn’t Delete"), { $0.delete(contact.id) }) else { return }
            toast(tr("{contact} deleted", ["contact": contact.displayName]), tr("Undo")) { [weak self] in
                self?.restore(contact)
            }
        }
    }

    /// Brings back a contact that was deleted.
    private func restore(_ contact: Contact) {
        Task {
            if await stores(tr("Couldn’t Undo"), { $0.save(contact) }) { change { $0.show(contact) } }
        }
    }

    /// What the button of the notice says.
    func heedNotice() {
        switch state.notice(store.list) {
        case .elsewhere:
            change { $0.takeBack() }
            if let draft = state.draft { editor.focus(draft) }
        case .notStored:
            takeOver(tr("Couldn’t Add")) { tr("{contact} added", ["contact": $0]) }
        case .newer:
            takeOver(tr("Couldn’t Update")) { tr("{contact} updated", ["contact": $0]) }
        case .changedHere, nil:
            break
        }
    }

    /// Stores the contact that is shown, which another device has sent, and says that by its name.
    private func takeOver(_ failure: String, _ success: @escaping (String) -> String) {
        guard let contact = state.viewed else { return }
        Task {
            guard await stores(failure, { _ = $0.merge([contact]) }) else { return }
            toast(success(contact.displayName))
        }
    }

    /// Begins a search.
    func search() {
        widgets.searchBar[flag: "search-mode-enabled"] = true
        gtk_widget_grab_focus(widgets.search.pointer)
    }

    /// Reads the contacts anew.
    func reload() { store.read() }

    /// Copies why a continuation has failed.
    func copyFailure() {
        guard case .failed(let device, let reason) = state.pane else { return }
        let details = [reason, failureDetails].filter { !$0.isEmpty }.joined(separator: " ")
        gdk_clipboard_set_text(gtk_widget_get_clipboard(window.pointer), "\(device): \(details)")
        toast(tr("Details copied"))
    }

    /// Closes the window; asks first if something would be lost.
    func close() { gtk_window_close(window.pointer) }

    /// Closes all windows.
    func quit() { onQuit?() }

    /// Shows which keys do what.
    func showShortcuts() {
        let shortcuts = Template(Templates.shortcuts)["shortcuts"]
        gtk_window_set_transient_for(shortcuts.pointer, window.pointer)
        gtk_window_present(shortcuts.pointer)
    }

    /// Shows what this is.
    func showAbout() {
        let about = GTKObject(adw_about_window_new())
        about[text: "application-name"] = tr("Contacts")
        about[text: "application-icon"] = ContactsApplication.id
        about[text: "developer-name"] = Vendor.developer
        about[text: "comments"] = tr(
            "An address book that moves with you from one of your devices to another.")
        gtk_window_set_transient_for(about.pointer, window.pointer)
        about[flag: "modal"] = true
        gtk_window_present(about.pointer)
    }

    // MARK: What these have in common

    /// Brings the window to the front.
    func present() { gtk_window_present(window.pointer) }

    /// Does `body` once nothing would be lost by it: at once, or after the user has said what to do with the form.
    func unlessUnsaved(_ body: @escaping (ContactsWindow) -> Void) {
        guard state.hasUnsavedChanges else { return body(self) }
        let question = MessageDialog(
            tr("Discard Changes?"), tr("What you have typed has not been saved."),
            [.init("keep", tr("_Keep Editing")), .init("discard", tr("_Discard"), .destructive)])
        question.ask(over: window) { [weak self] answer in
            guard let self else { return }
            if answer == "discard" { body(self) } else { change { _ in } }
        }
    }

    /// Asks before the window is closed with something unsaved in it.
    /// - Returns: whether it stays open for now.
    func keepsOpen() -> Bool {
        guard state.hasUnsavedChanges else { return false }
        unlessUnsaved { gtk_window_destroy($0.window.pointer) }
        return true
    }

    /// Tells the user that something has failed.
    func tell(_ heading: String, _ text: String) {
        MessageDialog(heading, text, [.init("close", tr("_Close"))]).ask(over: window) { _ in }
    }

    /// Changes the contacts, and says under `heading` if that fails.
    /// - Returns: whether they are stored.
    private func stores(
        _ heading: String, _ body: @escaping @Sendable (inout ContactList) -> Void
    ) async -> Bool {
        do {
            try await store.change(body)
            return true
        } catch {
            tell(heading, "\(error)")
            return false
        }
    }
}

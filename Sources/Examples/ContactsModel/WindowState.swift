// SPDX-License-Identifier: LGPL-2.1-or-later

/// What a window of the address book shows. All that is visible follows from this.
package struct WindowState: Sendable {
    /// What is beside the list.
    package enum Pane: Equatable, Sendable {
        /// No contact is chosen.
        case nothing
        /// A contact, which may have come from another device and not be stored here.
        case viewing(Contact)
        /// The form.
        case editing(Draft)
        /// Something comes from a device of this name.
        case continuing(from: String)
        /// What was to come has not come; why.
        case failed(from: String, reason: String)
    }

    /// Where editing was continued, and whether the user has decided to edit here all the same.
    package struct Elsewhere: Equatable, Sendable {
        /// What the device is called.
        package let device: String
    }

    /// What is beside the list.
    package private(set) var pane = Pane.nothing
    /// What is searched for, as ``Text/query(_:)`` has it.
    package var query = "" { didSet { query = Text.query(query) } }
    /// Where editing was continued; nil while it goes on here.
    package private(set) var elsewhere: Elsewhere?
    /// What is pushed aside by a continuation, and comes back if that fails.
    private var former: Pane?
    /// Whether the form is being written to the file.
    package private(set) var isSaving = false

    /// An empty window.
    package init() {}

    /// The draft in the form, if there is one.
    package var draft: Draft? {
        if case .editing(let draft) = pane { draft } else { nil }
    }

    /// The contact that is shown, if there is one.
    package var viewed: Contact? {
        if case .viewing(let contact) = pane { contact } else { nil }
    }

    /// Whether something would be lost if another pane took the place of this.
    package var hasUnsavedChanges: Bool { draft?.isChanged == true && elsewhere == nil }

    /// Whether the form takes what is typed.
    package var canType: Bool { draft != nil && elsewhere == nil && !isSaving }

    /// Whether the form can be saved now.
    package var canSave: Bool { canType && draft?.problem == nil }

    /// What has to be said above the pane; nil for nothing. `list` are the contacts that are stored here.
    package func notice(_ list: ContactList) -> Notice? {
        switch pane {
        case .editing(let draft):
            if let elsewhere { return .elsewhere(elsewhere.device) }
            return draft.isOlder(than: list[draft.contact.id]) ? .changedHere : nil
        case .viewing(let contact):
            guard let stored = list[contact.id] else { return .notStored }
            return stored.modified < contact.modified && stored.values != contact.values ? .newer : nil
        case .nothing, .continuing, .failed:
            return nil
        }
    }

    // MARK: What happens

    /// Shows a contact, or nothing.
    package mutating func show(_ contact: Contact?) {
        leave()
        pane = contact.map(Pane.viewing) ?? .nothing
    }

    /// Opens the form.
    package mutating func edit(_ draft: Draft) {
        leave()
        pane = .editing(draft)
    }

    /// Something was typed, or the cursor has moved.
    package mutating func type(_ change: (inout Draft) -> Void) {
        guard canType, case .editing(var draft) = pane else { return }
        change(&draft)
        pane = .editing(draft)
    }

    /// The form is being written; it stays until that is done.
    package mutating func beginSaving() { isSaving = draft != nil }

    /// Writing has failed; the form is as it was.
    package mutating func endSaving() { isSaving = false }

    /// Editing was continued on another device: typing on here would make two of it.
    package mutating func continued(on device: String) {
        guard draft != nil, !isSaving else { return }
        elsewhere = Elsewhere(device: device)
    }

    /// The user edits here all the same.
    package mutating func takeBack() { elsewhere = nil }

    /// Something is coming from another device.
    package mutating func beginContinuing(from device: String) {
        if case .continuing = pane {} else { former = pane }
        pane = .continuing(from: device)
    }

    /// What was to come has not come.
    package mutating func failContinuing(from device: String, reason: String) {
        guard case .continuing = pane else { return }
        pane = .failed(from: device, reason: reason)
    }

    /// Back to what was there before something was to come.
    package mutating func goBack() {
        switch pane {
        case .continuing, .failed:
            pane = former ?? .nothing
            former = nil
        case .nothing, .viewing, .editing:
            break
        }
    }

    /// The contacts have changed: what is shown may be another now, or gone.
    package mutating func listChanged(_ list: ContactList) {
        if case .viewing(let contact) = former, list[contact.id] == nil { former = nil }
        guard case .viewing(let contact) = pane else { return }
        if let current = list[contact.id], current.modified >= contact.modified { pane = .viewing(current) }
    }

    private mutating func leave() {
        former = nil
        elsewhere = nil
        isSaving = false
    }
}

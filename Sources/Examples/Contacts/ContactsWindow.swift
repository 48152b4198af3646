// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import ContactsModel
import GTKObjects
import GTKSupport
import HandoffGTK
import HandoffKit
import Platform

/// A window of the address book: the list, and beside it a contact, the form, or what comes from another device.
@MainActor
final class ContactsWindow {
    /// The widgets that follow from the state.
    @MainActor
    struct Widgets {
        /// The two pages, and what is in that of the list.
        let leaflet, contentPage, contentHeader, listPage, lists, panes, searchBar, search, selection,
            problem: GTKObject
        /// What is in the header of the other page.
        let title, back, cancel, save, more, edit: GTKObject
        /// What is on the other page beside a contact and the form.
        let notice, noticeLabel, noticeButton, continuing, failed, spinner, toasts: GTKObject
        /// What says how many contacts have come.
        let transfer, transferBox, transferLabel, transferBar: GTKObject

        /// What `template` has made.
        init(_ template: Template) {
            contentHeader = template["content_header"]
            (leaflet, contentPage, listPage) = (
                template["leaflet"], template["content_page"], template["list_page"]
            )
            (lists, panes, problem) = (template["lists"], template["panes"], template["problem"])
            (searchBar, search) = (template["search_bar"], template["search"])
            selection = template["selection"]
            (title, back, cancel) = (template["title"], template["back"], template["cancel"])
            (save, more, edit) = (template["save"], template["more"], template["edit"])
            (notice, noticeLabel) = (template["notice"], template["notice_label"])
            noticeButton = template["notice_button"]
            (continuing, failed, spinner) = (
                template["continuing"], template["failed"], template["spinner"]
            )
            toasts = template["toasts"]
            (transfer, transferLabel) = (template["transfer"], template["transfer_label"])
            (transferBox, transferBar) = (template["transfer_box"], template["transfer_bar"])
        }
    }

    /// What its commands begin with, in templates and for shortcuts.
    static let prefix = "contacts"

    /// The window itself.
    let window: GTKObject
    /// The user's contacts.
    let store: ContactStore
    /// What follows from the state.
    let widgets: Widgets
    /// The page that shows a contact.
    let viewer: ContactViewer
    /// The form.
    let editor: ContactEditor
    private let list: ListModel
    /// What the window hands off; nil once it is closed.
    private(set) var activity: ContactActivity?
    /// What the user can do in it.
    private let commands: Commands
    /// The contacts that come by stream.
    var transfer: Task<Void, Never>?
    /// How often contacts have begun to come.
    var transfers = 0
    /// Whether the user does not want any more what was to come.
    var hasStopped = false
    /// What those need to know who look for the cause of a failed continuation, beside what the window says.
    var failureDetails = ""
    /// Called once the window is gone.
    var onClose: (() -> Void)?
    /// Called when the user wants to close all windows.
    var onQuit: (() -> Void)?
    private var isSelecting = false
    /// What the list shows.
    private var listed: (changes: Int, query: String)?

    /// What the window shows.
    private(set) var state = WindowState()

    /// A window of `application` that shows the contacts of `store`.
    init(_ application: GTKObject, _ store: ContactStore) {
        let template = Template(Templates.window)
        window = template["window"]
        widgets = Widgets(template)
        viewer = ContactViewer(template)
        editor = ContactEditor(template, window)
        self.store = store
        commands = Commands(Self.prefix, in: window)
        list = ListModel { [weak store] in ContactRow { store?.list[$0] } }
        list.show(in: template["list"], widgets.selection)
        gtk_window_set_application(window.pointer, application.pointer)
        activity = ContactActivity(
            ActivityWindow(window.pointer), contacts: { [weak store] in store?.list.contacts ?? [] },
            onContinued: { [weak self] in self?.continued($0, on: $1) })
        connect(template)
        addCommands()
        store.observe(self) { [weak self] in self?.storeChanged() }
        storeChanged()
    }

    // MARK: State

    /// Changes what the window shows.
    func change(_ body: (inout WindowState) -> Void) {
        let couldType = state.canType
        body(&state)
        // A field that can't be typed into any more would keep the keyboard all the same.
        if couldType && !state.canType { gtk_window_set_focus(window.pointer, nil) }
        render()
        if state.viewed != nil, gtk_window_get_focus(window.pointer) == nil {
            gtk_widget_grab_focus(widgets.edit.pointer)
        }
        activity?.show(state)
    }

    private func storeChanged() {
        change { $0.listChanged(store.list) }
        if let news = store.takeNews() {
            tell(tr("Contacts Were Damaged"), news)
        }
    }

    private func connect(_ template: Template) {
        widgets.search.on("search-changed") { [weak self] in
            guard let self else { return }
            let query = widgets.search[text: "text"]
            change { $0.query = query }
        }
        widgets.searchBar[object: "key-capture-widget"] = template["list_page"]
        widgets.selection.on("notify::selected") { [weak self] in self?.selected() }
        widgets.leaflet.on("notify::folded") { [weak self] in self?.render() }
        widgets.leaflet.on("notify::visible-child") { [weak self] in self?.swiped() }
        viewer.onCopy = { [weak self] field in self?.toast(tr("{field} copied", ["field": field.label])) }
        editor.onChange = { [weak self] change in
            guard let self, state.canType else { return }
            self.change { $0.type(change) }
        }
        widgets.transfer.on("notify::child-revealed") { [weak self] in self?.transferMoved() }
        template["transfer_stop"].on("clicked") { [weak self] in self?.transfer?.cancel() }
        window.answer("close-request") { [weak self] in self?.keepsOpen() ?? false }
        window.on("destroy") { [weak self] in self?.closed() }
    }

    /// The user has chosen a row.
    private func selected() {
        guard !isSelecting else { return }
        let position = Int(gtk_single_selection_get_selected(widgets.selection.pointer))
        guard list.items.indices.contains(position),
            let contact = store.list[ContactRow.id(list.items[position])]
        else { return }
        unlessUnsaved { $0.change { $0.show(contact) } }
    }

    /// The user has gone back to the list with a gesture.
    private func swiped() {
        guard widgets.leaflet[flag: "folded"],
            widgets.leaflet[object: "visible-child"]?.pointer == widgets.listPage.pointer,
            state.pane != .nothing
        else { return }
        change { $0.show(nil) }
    }

    private func closed() {
        transfer?.cancel()
        store.forget(self)
        activity?.end()
        activity = nil
        onClose?()
    }

    // MARK: What is seen

    /// Shows a short message.
    func toast(_ text: String) { toast(text, nil) {} }

    /// Shows a short message with something to do about it.
    func toast(_ text: String, _ button: String?, _ body: @escaping @MainActor () -> Void) {
        let new: OpaquePointer = adw_toast_new(Markup.escaped(text))
        let toast = GTKObject(new)
        if let button {
            toast[text: "button-label"] = button
            toast.on("button-clicked", body)
        }
        // The overlay takes over the reference that the toast began with.
        adw_toast_overlay_add_toast(widgets.toasts.pointer, new)
    }

    private func render() {
        renderList()
        renderPane()
        renderHeader()
        renderNotice()
    }

    private func renderList() {
        isSelecting = true
        // There may be many, and what is typed into the form changes none of them.
        if listed?.changes != store.changes || listed?.query != state.query {
            list.set(store.list.matching(state.query).map(ContactRow.text))
            listed = (store.changes, state.query)
        }
        let chosen = (state.viewed?.id ?? state.draft?.contact.id).flatMap { id in
            list.items.firstIndex { ContactRow.id($0) == id }
        }
        // GTK_INVALID_LIST_POSITION
        gtk_single_selection_set_selected(widgets.selection.pointer, chosen.map { guint($0) } ?? guint.max)
        isSelecting = false
        widgets.lists[text: "visible-child-name"] = listPage(list.items.count)
        if let problem = store.problem { widgets.problem[text: "description"] = Markup.escaped(problem) }
    }

    /// What is in the place of the list, when so many contacts are found.
    private func listPage(_ found: Int) -> String {
        if store.problem != nil { return "problem" }
        if found > 0 || !store.isRead { return "contacts" }
        return store.list.count > 0 ? "not-found" : "empty"
    }

    private func renderPane() {
        let pane: (name: String, title: String)
        switch state.pane {
        case .nothing:
            pane = ("nothing", "")
        case .viewing(let contact):
            pane = ("viewing", "")
            viewer.show(contact)
        case .editing(let draft):
            pane = ("editing", draft.isNew ? tr("New Contact") : tr("Edit Contact"))
            editor.show(draft, canType: state.canType)
        case .continuing(let device):
            pane = ("continuing", "")
            widgets.continuing[text: "title"] = Markup.escaped(
                tr("Continuing from {device}…", ["device": device]))
        case .failed(let device, let reason):
            pane = ("failed", "")
            widgets.failed[text: "title"] = Markup.escaped(
                tr("Couldn’t Continue from {device}", ["device": device]))
            widgets.failed[text: "description"] = Markup.escaped(reason)
        }
        if widgets.panes[text: "visible-child-name"] != pane.name { leavePane() }
        widgets.panes[text: "visible-child-name"] = pane.name
        widgets.spinner[flag: "spinning"] = pane.name == "continuing"
        widgets.title[text: "title"] = pane.title
        let shown = state.pane == .nothing ? widgets.listPage : widgets.contentPage
        // Where both are seen the keyboard would leave the list with it.
        if widgets.leaflet[flag: "folded"], widgets.leaflet[object: "visible-child"]?.pointer != shown.pointer
        {
            widgets.leaflet[object: "visible-child"] = shown
        }
    }

    /// Takes the keyboard from what is about to be hidden. GTK would give it to whatever comes next, and a message that has it
    /// stays for ever.
    private func leavePane() {
        guard let focus = gtk_window_get_focus(window.pointer),
            gtk_widget_is_ancestor(focus, widgets.contentPage.pointer) != 0
        else { return }
        gtk_window_set_focus(window.pointer, nil)
    }

    private func renderHeader() {
        let isViewing = state.viewed != nil
        let isEditing = state.draft != nil
        let isFolded = widgets.leaflet[flag: "folded"]
        widgets.back[flag: "visible"] = isFolded && isViewing
        widgets.leaflet[flag: "can-navigate-back"] = isViewing
        let canCancel = isEditing || (!isViewing && state.pane != .nothing)
        // What has failed is closed by a button below the reason: there is nothing left to be cancelled.
        var hasFailed = false
        if case .failed = state.pane { hasFailed = true }
        widgets.cancel[flag: "visible"] = canCancel && !hasFailed
        widgets.save[flag: "visible"] = isEditing
        // On a narrow screen there is no room for both.
        widgets.contentHeader[flag: "show-end-title-buttons"] = !(isEditing && isFolded)
        widgets.edit[flag: "visible"] = isViewing
        widgets.more[flag: "visible"] = state.viewed.map { store.list[$0.id] != nil } ?? false
        let isStored = state.viewed.map { store.list[$0.id] != nil } ?? false
        commands[isEnabled: "edit"] = isViewing
        commands[isEnabled: "delete"] = isStored
        commands[isEnabled: "back"] = isViewing
        commands[isEnabled: "cancel"] = canCancel && !state.isSaving
        commands[isEnabled: "save"] = state.canSave
        commands[isEnabled: "new"] = store.problem == nil
    }

    private func renderNotice() {
        let notice = state.notice(store.list)
        if let notice {
            widgets.noticeLabel[text: "label"] = notice.text
            widgets.noticeButton[flag: "visible"] = notice.button != nil
            widgets.noticeButton[text: "label"] = notice.button ?? ""
        }
        widgets.notice[flag: "revealed"] = notice != nil
        commands[isEnabled: "notice"] = notice?.button != nil
    }

    private func addCommands() {
        let commands: [(String, (ContactsWindow) -> () -> Void)] = [
            ("new", ContactsWindow.new), ("edit", ContactsWindow.edit), ("delete", ContactsWindow.delete),
            ("back", ContactsWindow.back), ("cancel", ContactsWindow.cancel), ("save", ContactsWindow.save),
            ("search", ContactsWindow.search), ("notice", ContactsWindow.heedNotice),
            ("reload", ContactsWindow.reload), ("copy-failure", ContactsWindow.copyFailure),
            ("shortcuts", ContactsWindow.showShortcuts), ("about", ContactsWindow.showAbout),
            ("close", ContactsWindow.close), ("quit", ContactsWindow.quit),
        ]
        for (name, command) in commands {
            self.commands.add(name) { [weak self] in if let self { command(self)() } }
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import GTKObjects
import GTKSupport
import HandoffCore
import HandoffSettingsModel
import Platform

/// The page on which people choose.
@MainActor
final class PreferencesView {
    private let stack, enabled, parks, sharesAddresses, introduces, sharesOpen: GTKObject
    private let clipboard, notifyOffers, notifyContinued: GTKObject
    private let noExcluded, noFolders: GTKObject
    private let documentsFolder, documentsReset, adaptersGroup, extensionRow, topBar: GTKObject
    private let excluded: RowList<RemovableRow<ExcludedRow>>
    private let folders: RowList<RemovableRow<FolderRow>>
    private let adapters: RowList<AdapterRowView>
    private let actor: WindowActor
    private var content: PreferencesPage?
    /// Whether what changes now is shown and not chosen.
    private var isShowing = false
    /// The dialog in which a folder is chosen.
    private var chooser: GTKObject?

    /// The page in `template`.
    init(_ template: Template, _ actor: WindowActor) {
        (stack, enabled, parks) = (template["preferences_stack"], template["enabled"], template["parks"])
        (sharesAddresses, introduces) = (template["shares_addresses"], template["introduces"])
        (sharesOpen, clipboard) = (template["shares_open"], template["clipboard"])
        (notifyOffers, notifyContinued) = (template["notify_offers"], template["notify_continued"])
        (noExcluded, noFolders) = (template["no_excluded"], template["no_folders"])
        (documentsFolder, documentsReset) = (template["documents_folder"], template["documents_reset"])
        (adaptersGroup, extensionRow) = (template["adapters_group"], template["extension_row"])
        topBar = template["extension_switch"]
        self.actor = actor
        let view = WeakView()
        excluded = RowList(template["excluded"]) { _ in
            RemovableRow { row in view.value?.write(PreferencesPage.excluding(row.id, false)) }
        }
        folders = RowList(template["folders"]) { _ in
            RemovableRow { row in view.value?.write(PreferencesPage.sharing(row.name, nil)) }
        }
        adapters = RowList(template["adapters"]) { _ in
            AdapterRowView { id, isOn in view.value?.write(PreferencesPage.switching(id, isOn)) }
        }
        view.value = self
        connect(template)
    }

    /// Shows `page`, whatever the widgets show now.
    func show(_ page: PreferencesPage) {
        isShowing = true
        defer { isShowing = false }
        content = page
        stack[text: "visible-child-name"] = page.isAvailable ? "preferences" : "stopped"
        enabled[flag: "active"] = page.isEnabled
        let offers = OfferNotices.allCases.firstIndex(of: page.notifyOffers) ?? 0
        notifyOffers[number: "selected"] = offers
        notifyContinued[flag: "active"] = page.notifyContinued
        parks[flag: "active"] = page.parks
        sharesAddresses[flag: "active"] = page.sharesAddresses
        introduces[flag: "active"] = page.introduces
        sharesOpen[flag: "active"] = page.sharesOpen
        clipboard[number: "selected"] = ClipboardMode.allCases.firstIndex(of: page.clipboard) ?? 0
        clipboard[text: "subtitle"] = page.clipboardMeaning
        excluded.set(page.excluded)
        folders.set(page.folders)
        noExcluded[flag: "visible"] = page.excluded.isEmpty
        noFolders[flag: "visible"] = page.folders.isEmpty
        documentsFolder[text: "subtitle"] =
            page.documentsFolder.isEmpty
            ? tr("“Handoff” in the folder for downloads") : page.documentsFolder
        documentsReset[flag: "visible"] = !page.documentsFolder.isEmpty
        adapters.set(page.adapters)
        adaptersGroup[flag: "visible"] = !page.adapters.isEmpty
        extensionRow[flag: "visible"] = page.shellExtension != nil
        topBar[flag: "active"] = page.shellExtension == true
    }

    // MARK: Choosing

    private func connect(_ template: Template) {
        enabled.on("notify::active") { [weak self] in
            self?.chosen { PreferencesPage.setEnabled($0.enabled[flag: "active"]) }
        }
        parks.on("notify::active") { [weak self] in
            self?.chosen { PreferencesPage.setParks($0.parks[flag: "active"]) }
        }
        sharesAddresses.on("notify::active") { [weak self] in
            self?.chosen { PreferencesPage.setSharesAddresses($0.sharesAddresses[flag: "active"]) }
        }
        introduces.on("notify::active") { [weak self] in
            self?.chosen { PreferencesPage.setIntroduces($0.introduces[flag: "active"]) }
        }
        sharesOpen.on("notify::active") { [weak self] in
            self?.chosen { PreferencesPage.setSharesOpen($0.sharesOpen[flag: "active"]) }
        }
        topBar.on("notify::active") { [weak self] in
            self?.chosen { .setShellExtension($0.topBar[flag: "active"]) }
        }
        notifyContinued.on("notify::active") { [weak self] in
            self?.chosen { PreferencesPage.setNotifyContinued($0.notifyContinued[flag: "active"]) }
        }
        notifyOffers.on("notify::selected") { [weak self] in
            self?.chosen { $0.chosen(in: $0.notifyOffers, PreferencesPage.setNotifyOffers) }
        }
        clipboard.on("notify::selected") { [weak self] in
            self?.chosen { $0.chosen(in: $0.clipboard, PreferencesPage.setClipboard) }
        }
        documentsReset.on("clicked") { [weak self] in
            self?.chosen { _ in PreferencesPage.setDocumentsFolder("") }
        }
        template["documents_choose"].on("clicked") { [weak self] in
            self?.chooseFolder(tr("Where Documents Go")) { view, path in
                view.chosen { _ in PreferencesPage.setDocumentsFolder(path) }
            }
        }
        template["exclude_button"].on("clicked") { [weak self] in self?.exclude() }
        template["share_button"].on("clicked") { [weak self] in self?.shareFolder() }
    }

    private func chosen(_ request: (PreferencesView) -> Request?) {
        if !isShowing, let request = request(self) { write(request) }
    }

    /// What the choice in `row`, which shows all values in their order, asks for.
    private func chosen<Choice: CaseIterable>(
        in row: GTKObject, _ request: (Choice) -> Request
    ) -> Request? where Choice.AllCases == [Choice] {
        let position = row[number: "selected"]
        return Choice.allCases.indices.contains(position) ? request(Choice.allCases[position]) : nil
    }

    private func write(_ request: Request) { actor.window?.write(request) }

    private func exclude() {
        guard let content, let window = actor.window else { return }
        let already = Set(content.excluded.map(\.id))
        let dialog = EntryDialog(
            tr("Exclude"), tr("Choose one that knows Handoff, or enter the id of any other."),
            entry: tr("Id, for example org.example.Editor"), accept: tr("_Exclude"))
        dialog.choices = window.applications.knowingHandoff().filter { !already.contains($0.id) }
            .map { .init(id: $0.id, title: $0.name, detail: $0.id) }
        dialog.ask(over: window.window) { [weak self] id in self?.write(PreferencesPage.excluding(id, true)) }
    }

    private func shareFolder() {
        chooseFolder(tr("Share a Folder")) { view, path in
            guard let window = view.actor.window else { return }
            let dialog = EntryDialog(
                tr("Name of the Folder"),
                tr("The folder has to have the same name on your other devices. It is here:") + "\n\(path)",
                entry: tr("Name"), accept: tr("_Share"))
            dialog.initial = path.split(separator: "/").last.map { String($0) } ?? ""
            dialog.ask(over: window.window) { [weak view] name in
                view?.write(PreferencesPage.sharing(name, path))
            }
        }
    }

    private func chooseFolder(
        _ title: String, _ done: @escaping @MainActor (PreferencesView, String) -> Void
    ) {
        // GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, and GTK_RESPONSE_ACCEPT below.
        guard let window = actor.window,
            let new = gtk_file_chooser_native_new(
                title, window.window.pointer, 2, tr("_Select"), tr("_Cancel"))
        else { return }
        let chooser = GTKObject(new)
        self.chooser = chooser
        chooser.on("response") { [weak self, weak chooser] in
            guard let self, let chooser else { return }
            self.chooser = nil
            guard let file = gtk_file_chooser_get_file(chooser.pointer) else { return }
            defer { g_object_unref(UnsafeMutableRawPointer(file)) }
            guard let path = g_file_get_path(file) else {
                window.tell(
                    tr("This Cannot Be Changed"),
                    tr("That is not a folder of this device. Choose another one."))
                return
            }
            defer { g_free(path) }
            done(self, String(cString: path))
        }
        gtk_native_dialog_set_modal(chooser.pointer, 1)
        gtk_native_dialog_show(chooser.pointer)
    }
}

/// Where rows find the view that they are in.
@MainActor
private final class WeakView {
    weak var value: PreferencesView?
}

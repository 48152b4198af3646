// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import GTKObjects
import GTKSupport
import HandoffSettingsModel
import Platform

/// Something that was added and can be taken away again.
protocol Removable: Equatable, Identifiable where ID == String {
    /// What it is called.
    var title: String { get }
    /// What else tells it apart.
    var detail: String { get }
}

extension ExcludedRow: Removable {
    var title: String { name }
    var detail: String { name == id ? "" : id }
}

extension FolderRow: Removable {
    var title: String { name }
    var detail: String { path }
}

/// A row with something that can be taken away.
@MainActor
final class RemovableRow<Content: Removable>: ContentRow {
    let widget: GTKObject
    private let button: GTKObject
    private var content: Content?

    /// A row whose button calls `remove`.
    init(_ remove: @escaping @MainActor (Content) -> Void) {
        let template = Template(Templates.removable)
        (widget, button) = (template["row"], template["button"])
        button.on("clicked") { [weak self] in if let content = self?.content { remove(content) } }
    }

    func show(_ content: Content) {
        self.content = content
        widget[text: "title"] = content.title
        widget[text: "subtitle"] = content.detail
        button.name(tr("Remove"))
        button.describe(content.title)
    }
}

/// An adapter, which can be switched off.
@MainActor
final class AdapterRowView: ContentRow {
    let widget: GTKObject
    private let toggle: GTKObject
    private var content: AdapterRow?
    private var isShowing = false

    /// A row whose switch calls `set` with the id.
    init(_ set: @escaping @MainActor (String, Bool) -> Void) {
        let template = Template(Templates.switched)
        (widget, toggle) = (template["row"], template["switch"])
        toggle.on("notify::active") { [weak self] in
            guard let self, !isShowing, let content else { return }
            set(content.id, toggle[flag: "active"])
        }
    }

    func show(_ content: AdapterRow) {
        isShowing = true
        defer { isShowing = false }
        self.content = content
        widget[text: "title"] = content.name
        toggle[flag: "active"] = content.isOn
        toggle.name(content.name)
    }
}

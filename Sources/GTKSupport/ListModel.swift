// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CAdwaita
package import GTKObjects

/// The rows of a list view: texts that stand for what is shown, and widgets that are made for as many as are visible.
@MainActor
package final class ListModel {
    private let texts: GTKObject
    private let factory: GTKObject
    private var rows: [OpaquePointer: any ListRow] = [:]

    /// The rows that are there.
    package private(set) var items: [String] = []

    /// No rows yet. Their widgets are what `makeRow` makes.
    package init(_ makeRow: @escaping @MainActor () -> any ListRow) {
        let list: OpaquePointer = gtk_string_list_new(nil)
        texts = GTKObject(list)
        g_object_unref(UnsafeMutableRawPointer(list))
        let factory: OpaquePointer = gtk_signal_list_item_factory_new()
        self.factory = GTKObject(factory)
        g_object_unref(UnsafeMutableRawPointer(factory))
        self.factory.on(
            "setup",
            first: { [weak self] item in
                let row = makeRow()
                self?.rows[item] = row
                gtk_list_item_set_child(item, row.widget.pointer)
            })
        self.factory.on(
            "bind",
            first: { [weak self] item in
                guard let object = gtk_list_item_get_item(item),
                    let text = gtk_string_object_get_string(OpaquePointer(object))
                else { return }
                self?.rows[item]?.show(String(cString: text))
            })
        self.factory.on("teardown", first: { [weak self] item in self?.rows[item] = nil })
    }

    /// Shows the rows in `view`, a list view, as far as `selection`, its model, lets them be chosen.
    package func show(in view: GTKObject, _ selection: GTKObject) {
        selection[object: "model"] = texts
        view[object: "factory"] = factory
    }

    /// Replaces what has changed between these rows and those that are there. Rows that stay are not touched.
    package func set(_ new: [String]) {
        guard let change = ListChange(from: items, to: new) else { return }
        var pointers: [UnsafePointer<CChar>?] = change.added.map { UnsafePointer(g_strdup($0)) }
        defer { for pointer in pointers { g_free(UnsafeMutablePointer(mutating: pointer)) } }
        pointers.append(nil)
        items = new
        gtk_string_list_splice(texts.pointer, guint(change.position), guint(change.removed), pointers)
    }
}

/// A widget for one row at a time.
@MainActor
package protocol ListRow: AnyObject {
    /// What is seen.
    var widget: GTKObject { get }
    /// Shows what `text` stands for.
    func show(_ text: String)
}

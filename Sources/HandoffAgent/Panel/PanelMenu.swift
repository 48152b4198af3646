// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import MainLoop

/// What the panel's menu needs of the panel.
@MainLoop
package protocol PanelMenuOwner: AnyObject {
    /// What the menu shows.
    var menu: MenuModel { get }

    /// Shows at once what has changed.
    /// - Returns: whether the menu is another than before.
    func catchUp() -> Bool

    /// The user has chosen an item that does this.
    func choose(_ action: MenuModel.Action, _ call: MethodCall)
}

/// Answers whoever shows the panel's menu.
@MainLoop
package final class PanelMenu: DBusMenuServer {
    private weak var owner: (any PanelMenuOwner)?

    /// The most events, or items about to be shown, that are taken in one call.
    private static let most = 256
    /// The most names of properties that are looked at; an item has fewer than ten.
    private static let mostNames = 64

    /// The menu of `owner`.
    package init(_ owner: any PanelMenuOwner) { self.owner = owner }

    private var menu: MenuModel { owner?.menu ?? MenuModel() }

    package func getLayout(
        parentId: Int32, recursionDepth: Int32, propertyNames: [String], _ call: MethodCall
    ) throws -> DBusMenuGetLayoutReply {
        let menu = menu
        let layout = try menu.layout(of: parentId, depth: recursionDepth, Self.looked(propertyNames))
        return DBusMenuGetLayoutReply(revision: menu.revision, layout: layout)
    }

    package func getGroupProperties(
        ids: [Int32], propertyNames: [String], _ call: MethodCall
    ) throws -> [Structure<Int32, [String: Value]>] {
        menu.properties(of: ids, Self.looked(propertyNames))
    }

    package func getProperty(id: Int32, name: String, _ call: MethodCall) throws -> Value {
        try menu.property(name, of: id)
    }

    package func event(
        id: Int32, eventId: String, data: Value, timestamp: UInt32, _ call: MethodCall
    ) throws {
        perform(eventId, try menu.required(id), call)
    }

    package func eventGroup(
        events: [Structure<Int32, String, Value, UInt32>], _ call: MethodCall
    ) throws -> [Int32] {
        var errors: [Int32] = []
        for event in events.prefix(Self.most) {
            if let item = menu.item(event.fields.0) {
                perform(event.fields.1, item, call)
            } else {
                errors.append(event.fields.0)
            }
        }
        if let first = errors.first, errors.count == events.count { _ = try menu.required(first) }
        return errors
    }

    package func aboutToShow(id: Int32, _ call: MethodCall) throws -> Bool {
        _ = try menu.required(id)
        return owner?.catchUp() ?? false
    }

    package func aboutToShowGroup(
        ids: [Int32], _ call: MethodCall
    ) throws -> DBusMenuAboutToShowGroupReply {
        let there = ids.prefix(Self.most).filter { menu.item($0) != nil }
        let errors = ids.prefix(Self.most).filter { menu.item($0) == nil }
        if let first = errors.first, there.isEmpty { _ = try menu.required(first) }
        let isChanged = owner?.catchUp() ?? false
        // Any item may have moved, so all of it is to be asked for again.
        return DBusMenuAboutToShowGroupReply(updatesNeeded: isChanged ? [0] : [], idErrors: Array(errors))
    }

    package var version: UInt32 { 3 }
    package var textDirection: String { "ltr" }
    package var status: String { "normal" }
    package var iconThemePath: [String] { [] }

    private static func looked(_ names: [String]) -> [String] { Array(names.prefix(mostNames)) }

    private func perform(_ event: String, _ item: MenuModel.Item, _ call: MethodCall) {
        guard event == "clicked", let action = item.action else { return }
        owner?.choose(action, call)
    }
}

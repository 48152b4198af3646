// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import Platform

/// The menu of the panel: its items, and the numbers by which others name them.
///
/// A number stands for one thing that looks one way. What looks different is another item, with a number that nothing had
/// before: so whoever shows the menu sees each change from the numbers alone, and a click that comes late, for something
/// that has gone or has become something else, does nothing.
package struct MenuModel: Sendable {
    /// What an item does.
    package enum Action: Hashable, Sendable {
        case continueOffer(ObjectPath)
        case send(deviceID: String)
        case paste(deviceID: String)
        case openWindow
        case openEverything(deviceID: String)
        case setEnabled(Bool)
    }

    /// An item of the menu.
    package struct Item: Equatable, Sendable {
        /// Its number; 0 for the menu itself.
        package let id: Int32
        /// What it does; nil for nothing.
        package let action: Action?
        /// How it looks, in the words of `com.canonical.dbusmenu`.
        package let properties: [String: Value]
        /// What stands below it.
        package let children: [Item]
    }

    /// What an item is and how it looks, all but its number and what stands below it.
    private struct Look: Hashable {
        let place: Place
        let action: Action?
        let properties: [String: Value]
    }

    /// What items that do nothing differ in.
    private enum Place: Hashable {
        case item
        case separator(Int)
        case recipients
        case sources
    }

    /// The menu itself, with all items below it.
    package private(set) var root = Item(id: 0, action: nil, properties: [:], children: [])
    /// Counts the changes.
    package private(set) var revision: UInt32 = 0
    private var ids: [Look: Int32] = [:]
    private var next: Int32

    /// An empty menu.
    /// - Parameter first: the first number that is given.
    package init(first: Int32 = 1) { next = first }

    /// Shows `content` from now on.
    /// - Returns: whether the menu is another than before.
    package mutating func show(_ content: PanelContent) -> Bool {
        let former = (root, ids)
        ids = [:]
        root = Item(
            id: 0, action: nil, properties: ["children-display": .string("submenu")],
            children: items(for: content, former.1))
        if root == former.0 { return false }
        revision &+= 1
        return true
    }

    /// The item with this number.
    package func item(_ id: Int32) -> Item? { Self.find(id, in: root) }

    private static func find(_ id: Int32, in item: Item) -> Item? {
        if item.id == id { return item }
        for child in item.children {
            if let found = find(id, in: child) { return found }
        }
        return nil
    }

    // MARK: Items

    private mutating func items(for content: PanelContent, _ former: [Look: Int32]) -> [Item] {
        var items: [Item] = []
        func add(_ look: Look, _ children: [Item] = []) {
            items.append(
                Item(
                    id: number(of: look, former), action: look.action, properties: look.properties,
                    children: children))
        }
        for look in Self.offers(content) { add(look) }
        add(Self.separator(0))
        if !content.recipients.isEmpty {
            add(
                Self.above(tr("Send to…"), .recipients),
                children(content.recipients, former) { .send(deviceID: $0) })
        }
        if !content.sources.isEmpty, !content.reachesClipboard {
            add(Self.look(tr("The clipboard of this desktop cannot be reached"), nil, isEnabled: false))
        } else if content.sources.count > 1 {
            add(
                Self.above(tr("Paste from…"), .sources),
                children(content.sources, former) { .paste(deviceID: $0) })
        } else if let peer = content.sources.first {
            add(Self.look(tr("Paste from {device}", ["device": peer.name]), .paste(deviceID: peer.id)))
        }
        add(Self.look(tr("Open Handoff"), .openWindow))
        add(Self.separator(1))
        add(Self.toggle(content.isEnabled))
        return items
    }

    /// What can be continued, and below what each device offers what else is open there.
    private static func offers(_ content: PanelContent) -> [Look] {
        var looks: [Look] = []
        if content.offers.isEmpty { looks.append(look(tr("Nothing to continue"), nil, isEnabled: false)) }
        var left = content.listable
        for (number, offer) in content.offers.enumerated() {
            looks.append(
                look(
                    PanelContent.line(for: offer), .continueOffer(offer.path),
                    ["icon-name": .string(offer.icon)]))
            let isLast = !content.offers.dropFirst(number + 1).contains { $0.deviceID == offer.deviceID }
            guard isLast, let index = left.firstIndex(where: { $0.id == offer.deviceID }) else { continue }
            looks.append(everything(left.remove(at: index)))
        }
        return looks + left.map { everything($0) }
    }

    private static func everything(_ peer: PanelContent.Peer) -> Look {
        look(
            tr("Everything on {device}…", ["device": peer.name]), .openEverything(deviceID: peer.id))
    }

    /// What has others below it.
    private static func above(_ text: String, _ place: Place) -> Look {
        look(text, nil, ["children-display": .string("submenu")], place: place)
    }

    /// The items of `peers`, which stand below another one.
    private mutating func children(
        _ peers: [PanelContent.Peer], _ former: [Look: Int32], _ action: (String) -> Action
    ) -> [Item] {
        peers.map { peer in
            let look = Self.look(peer.name, action(peer.id))
            return Item(
                id: number(of: look, former), action: look.action, properties: look.properties, children: [])
        }
    }

    private static func look(
        _ text: String, _ action: Action?, _ more: [String: Value] = [:], isEnabled: Bool = true,
        place: Place = .item
    ) -> Look {
        var properties = more
        // An underscore marks the letter after it as a shortcut.
        properties["label"] = .string(
            text.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__"))
        if !isEnabled { properties["enabled"] = .boolean(false) }
        return Look(place: place, action: action, properties: properties)
    }

    private static func separator(_ number: Int) -> Look {
        Look(place: .separator(number), action: nil, properties: ["type": .string("separator")])
    }

    private static func toggle(_ isOn: Bool?) -> Look {
        look(
            tr("Handoff is on"), isOn.map { .setEnabled(!$0) },
            ["toggle-type": .string("checkmark"), "toggle-state": .int32(isOn == true ? 1 : 0)],
            isEnabled: isOn != nil)
    }

    // MARK: Numbers

    /// The number of `look`, which it keeps for as long as it is there.
    private mutating func number(of look: Look, _ former: [Look: Int32]) -> Int32 {
        if let id = former[look] ?? ids[look] {
            ids[look] = id
            return id
        }
        let used = Set(former.values).union(ids.values)
        while used.contains(next) { advance() }
        ids[look] = next
        defer { advance() }
        return next
    }

    /// After two thousand million items, numbers come again.
    private mutating func advance() { next = next == .max ? 1 : next + 1 }
}

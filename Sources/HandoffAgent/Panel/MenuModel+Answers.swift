// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus

/// What whoever shows the menu is told of it.
extension MenuModel {
    /// An item as `GetLayout` describes it: its number, its properties, and those below it, of the same form.
    package typealias Layout = Structure<Int32, [String: Value], [Value]>

    /// The item with the number `id` and those below it, at most `depth` levels, all if that is negative.
    /// - Throws: `InvalidArgs` if there is no such item.
    package func layout(of id: Int32, depth: Int32, _ names: [String]) throws(DBusError) -> Layout {
        let item = try required(id)
        return Layout(
            item.id, Self.properties(of: item, names), try Self.children(of: item, depth, names))
    }

    /// The properties of the items with these numbers, as far as they are there; of all if no number is given.
    package func properties(
        of ids: [Int32], _ names: [String]
    ) -> [Structure<Int32, [String: Value]>] {
        let wanted = Set(ids)
        return all.filter { ids.isEmpty || wanted.contains($0.id) }
            .map { Structure($0.id, Self.properties(of: $0, names)) }
    }

    /// One property of an item.
    /// - Throws: `InvalidArgs` if there is no such item, or it does not have that property.
    package func property(_ name: String, of id: Int32) throws(DBusError) -> Value {
        guard let value = try required(id).properties[name] else {
            throw .invalidArgs(
                "The item \(id) of the menu has no property “\(name.prefix(64))”. GetLayout gives those that it has."
            )
        }
        return value
    }

    /// The item with the number `id`.
    /// - Throws: `InvalidArgs` if there is none.
    package func required(_ id: Int32) throws(DBusError) -> Item {
        guard let item = item(id) else {
            throw .invalidArgs(
                "There is no item \(id) in the menu. GetLayout gives those that there are now.")
        }
        return item
    }

    private var all: [Item] {
        var items = [root]
        var index = 0
        while index < items.count {
            items += items[index].children
            index += 1
        }
        return items
    }

    private static func properties(of item: Item, _ names: [String]) -> [String: Value] {
        names.isEmpty ? item.properties : item.properties.filter { names.contains($0.key) }
    }

    private static func children(
        of item: Item, _ depth: Int32, _ names: [String]
    ) throws(DBusError) -> [Value] {
        if depth == 0 { return [] }
        var values: [Value] = []
        for child in item.children {
            let below = try children(of: child, depth < 0 ? depth : depth - 1, names)
            values.append(
                try .structure([
                    .int32(child.id), .properties(properties(of: child, names)),
                    try .array(of: "v", below.map { .variant($0) }),
                ]))
        }
        return values
    }
}

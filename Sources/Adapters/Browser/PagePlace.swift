// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus

/// Where in a page its user is: how far it is scrolled, and what is in its forms. It comes from a page or from another device, so
/// nothing is taken over that could not be.
struct PagePlace: Equatable, Sendable {
    /// How far it is scrolled to the right and down, in pixels of CSS.
    private(set) var scroll = (x: 0.0, y: 0.0)
    /// How high the page is, in such pixels; 0 if that is not known.
    private(set) var height = 0.0
    /// What the user has put into forms.
    private(set) var fields: [FormField] = []

    /// How many fields there may be.
    static let maximumFields = 64
    /// How many bytes they may take together.
    static let maximumSize = 65536
    /// The longest way in a page.
    static let maximumLength = 1e8

    /// What the add-on says.
    init(_ value: JSONValue?) {
        guard let value else { return }
        scroll = (Self.length(value["x"]?.number), Self.length(value["y"]?.number))
        height = Self.length(value["height"]?.number)
        keep((value["fields"]?.elements ?? []).lazy.compactMap { FormField($0) })
    }

    /// What the `UserInfo` of an activity says.
    init(userInfo: [String: Value]) {
        scroll = (Self.length(userInfo, "ScrollX"), Self.length(userInfo, "ScrollY"))
        height = Self.length(userInfo, "Height")
        guard case .array(let array)? = userInfo["Fields"] else { return }
        keep(array.elements.lazy.compactMap { $0.properties.flatMap { FormField($0) } })
    }

    static func == (one: PagePlace, other: PagePlace) -> Bool {
        one.scroll == other.scroll && one.height == other.height && one.fields == other.fields
    }

    private static func length(_ properties: [String: Value], _ name: String) -> Double {
        if case .double(let number)? = properties[name] { return length(number) }
        return 0
    }

    private static func length(_ number: Double?) -> Double {
        guard let number, number.isFinite else { return 0 }
        return min(max(number, 0), maximumLength)
    }

    private mutating func keep(_ found: some Sequence<FormField>) {
        var room = Self.maximumSize
        for field in found.prefix(Self.maximumFields) {
            room -= field.size
            if room < 0 { return }
            fields.append(field)
        }
    }

    /// It for the add-on.
    var json: JSONValue {
        [
            "x": .number(scroll.x), "y": .number(scroll.y), "height": .number(height),
            "fields": .array(fields.map(\.json)),
        ]
    }

    /// It as the `UserInfo` of an activity.
    var userInfo: [String: Value] {
        var userInfo: [String: Value] = [
            "ScrollX": .double(scroll.x), "ScrollY": .double(scroll.y), "Height": .double(height),
        ]
        // The type fits, so this is never refused.
        if !fields.isEmpty,
            let list = try? Value.array(of: "a{sv}", fields.map { .properties($0.properties) })
        {
            userInfo["Fields"] = list
        }
        return userInfo
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus

/// What the user has put into one field of a form.
struct FormField: Equatable, Sendable {
    /// What is in a field.
    enum Content: Equatable, Sendable {
        /// What was typed or chosen.
        case text(String)
        /// Whether it is ticked.
        case ticked(Bool)
    }

    /// The name of the field, or its id if it has none.
    let name: String
    /// Which of the fields of that name it is, from 0.
    let number: Int64
    /// What is in it.
    let content: Content

    /// How long a name may be, in bytes.
    static let maximumName = 256
    /// How long a text may be, in bytes.
    static let maximumText = 16384
    /// How many fields of one name are told apart.
    static let maximumNumber: Int64 = 1000

    private init?(_ name: String?, _ number: Int64?, _ content: Content?) {
        guard let name, let content, let number, !name.isEmpty, name.utf8.count <= Self.maximumName,
            0..<Self.maximumNumber ~= number
        else { return nil }
        if case .text(let text) = content, text.utf8.count > Self.maximumText { return nil }
        (self.name, self.number, self.content) = (name, number, content)
    }

    /// The field that `value` describes; nil if it is none.
    init?(_ value: JSONValue) {
        let content =
            value["text"]?.text.map { Content.text($0) } ?? value["ticked"]?.boolean.map { .ticked($0) }
        self.init(value["name"]?.text, value["number"]?.integer, content)
    }

    /// The field in the `UserInfo` of an activity; nil if it is none.
    init?(_ properties: [String: Value]) {
        var content: Content?
        switch properties["Text"] ?? properties["Ticked"] {
        case .string(let text)?: content = .text(text)
        case .boolean(let flag)?: content = .ticked(flag)
        default: break
        }
        var number: Int64?
        if case .int64(let counted)? = properties["Number"] { number = counted }
        self.init(properties["Name"]?.string, number, content)
    }

    /// It for the add-on.
    var json: JSONValue {
        switch content {
        case .text(let text): ["name": .string(name), "number": .integer(Int(number)), "text": .string(text)]
        case .ticked(let flag):
            ["name": .string(name), "number": .integer(Int(number)), "ticked": .boolean(flag)]
        }
    }

    /// It for the `UserInfo` of an activity.
    var properties: [String: Value] {
        switch content {
        case .text(let text): ["Name": .string(name), "Number": .int64(number), "Text": .string(text)]
        case .ticked(let flag): ["Name": .string(name), "Number": .int64(number), "Ticked": .boolean(flag)]
        }
    }

    /// About how many bytes it takes.
    var size: Int {
        if case .text(let text) = content { return name.utf8.count + text.utf8.count + 64 }
        return name.utf8.count + 64
    }
}

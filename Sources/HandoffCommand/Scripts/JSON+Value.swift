// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import Platform

extension JSON {
    /// The D-Bus value that this stands for where no type is asked for: texts are `s`, whole numbers `x` (or `t` if they need
    /// it), all others `d`, null the tagged null. An array whose elements are all texts, whole numbers, fractions or booleans
    /// is one of these, any other `av`; an object is `a{sv}`.
    var value: DBus.Value {
        get throws(CommandFailure) {
            switch self {
            case .null: return try Self.tagged("null", .boolean(false))
            case .boolean(let flag): return .boolean(flag)
            case .number(let digits): return try Self.number(digits)
            case .string(let text): return .string(try Self.checked(text))
            case .array(let elements):
                var values: [DBus.Value] = []
                for element in elements { values.append(try element.value) }
                let types = Set(values.map(\.typeSignature))
                guard let type = types.first, types.count == 1, ["s", "x", "d", "b"].contains(type) else {
                    return try Self.array("v", values.map { .variant($0) })
                }
                return try Self.array(type, values)
            case .object: return .properties(try properties)
            }
        }
    }

    /// The members of an object by name, each as ``value`` has it.
    var properties: [String: DBus.Value] {
        get throws(CommandFailure) {
            guard case .object(let members) = self else { throw CommandFailure(tr("It is not an object.")) }
            var properties: [String: DBus.Value] = [:]
            for member in members { properties[try Self.checked(member.name)] = try member.value.value }
            return properties
        }
    }

    /// The value of this type that `self` stands for.
    /// - Parameter type: one complete type, as “userInfoTypes” names it.
    func value(as type: String) throws(CommandFailure) -> DBus.Value {
        switch (type, self) {
        case ("s", .string), ("b", .boolean): return try value
        case ("v", _): return .variant(try value)
        case ("d", .number(let digits)):
            guard let number = Double(digits), number.isFinite else { throw unlike(type) }
            return .double(number)
        case (_, .number(let digits)): return try integer(digits, type)
        case ("(sv)", .array(let fields)): return try tagged(fields)
        case (_, .object(let members)) where type.hasPrefix("a{s"):
            let inner = String(type.dropFirst(3).dropLast())
            var entries: [(key: DBus.Value, value: DBus.Value)] = []
            for member in members {
                entries.append((.string(try Self.checked(member.name)), try member.value.value(as: inner)))
            }
            return try Self.converting { () throws(DBusError) in
                try .dictionary(key: "s", value: inner, entries)
            }
        case (_, .array(let elements)) where type.hasPrefix("a") && !type.hasPrefix("a{"):
            let inner = String(type.dropFirst())
            var values: [DBus.Value] = []
            for element in elements { values.append(try element.value(as: inner)) }
            return try Self.array(inner, values)
        default: throw unlike(type)
        }
    }

    /// What a message calls this kind of value.
    var kind: String {
        switch self {
        case .null: "null"
        case .boolean: tr("true or false")
        case .number: tr("a number")
        case .string: tr("a text")
        case .array: tr("an array")
        case .object: tr("an object")
        }
    }

    private func unlike(_ type: String) -> CommandFailure {
        CommandFailure(
            tr("{kind} cannot become the type “{type}”.", ["kind": kind, "type": type.shown]).capitalisedFirst
        )
    }

    // MARK: Numbers

    private static func number(_ digits: String) throws(CommandFailure) -> DBus.Value {
        if let number = Int64(digits) { return .int64(number) }
        if let number = UInt64(digits) { return .uint64(number) }
        guard let number = Double(digits), number.isFinite else {
            throw CommandFailure(tr("A number is too large."))
        }
        return .double(number)
    }

    private func integer(_ digits: String, _ type: String) throws(CommandFailure) -> DBus.Value {
        let value: DBus.Value? =
            switch type {
            case "y": UInt8(digits).map { .byte($0) }
            case "n": Int16(digits).map { .int16($0) }
            case "q": UInt16(digits).map { .uint16($0) }
            case "i": Int32(digits).map { .int32($0) }
            case "u": UInt32(digits).map { .uint32($0) }
            case "x": Int64(digits).map { .int64($0) }
            case "t": UInt64(digits).map { .uint64($0) }
            default: nil
            }
        guard let value else { throw unlike(type) }
        return value
    }

    // MARK: Containers and text

    /// `[TAG, CONTENT]` as the structure that `UserInfo` knows.
    private func tagged(_ fields: [JSON]) throws(CommandFailure) -> DBus.Value {
        guard fields.count == 2, case .string(let tag) = fields[0] else { throw unlike("(sv)") }
        let types = ["date": "x", "url": "s", "set": "av", "null": "b"]
        guard let type = types[tag] else {
            throw CommandFailure(
                tr("“{tag}” is not a tag. The tags are date, url, set and null.", ["tag": tag.shown]))
        }
        return try Self.tagged(tag, try fields[1].value(as: type))
    }

    private static func tagged(_ tag: String, _ content: DBus.Value) throws(CommandFailure) -> DBus.Value {
        try converting { () throws(DBusError) in try .structure([.string(tag), .variant(content)]) }
    }

    private static func array(_ type: String, _ values: [DBus.Value]) throws(CommandFailure) -> DBus.Value {
        try converting { () throws(DBusError) in try .array(of: type, values) }
    }

    private static func converting(
        _ body: () throws(DBusError) -> DBus.Value
    ) throws(CommandFailure) -> DBus.Value {
        do throws(DBusError) { return try body() } catch { throw CommandFailure(error) }
    }

    /// `text`, which D-Bus can carry.
    static func checked(_ text: String) throws(CommandFailure) -> String {
        guard !text.unicodeScalars.contains("\0") else {
            throw CommandFailure(tr("A text has a NUL character in it, which no text of D-Bus can have."))
        }
        return text
    }
}

extension String {
    /// The text with its first letter in upper case.
    fileprivate var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}

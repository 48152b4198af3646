// SPDX-License-Identifier: LGPL-2.1-or-later
@testable package import DBus

/// The type of a value, which knows how to make values of itself.
indirect enum ValueType {
    /// A basic type, given by its code.
    case basic(UInt8)
    case bytes
    case variant
    case array(ValueType)
    case dictionary(key: UInt8, value: ValueType)
    case structure([ValueType])

    var signature: String {
        switch self {
        case .basic(let code): Self.text(code)
        case .bytes: "ay"
        case .variant: "v"
        case .array(let element): "a" + element.signature
        case .dictionary(let key, let value): "a{\(Self.text(key))\(value.signature)}"
        case .structure(let fields): "(" + fields.map(\.signature).joined() + ")"
        }
    }

    private static let basicTypes = Array("sybnqiuxtdog".utf8)

    private static func text(_ code: UInt8) -> String { String(Unicode.Scalar(code)) }

    /// The type that `choices` make, with at most `depth` nested arrays and structures.
    init(_ choices: inout Choices, depth: Int) {
        let choice = choices.below(depth > 0 ? 24 : 15)
        self =
            switch choice {
            case ..<12: .basic(Self.basicTypes[choice])
            case 12: .bytes
            case 13, 14: .variant
            case 15...17: .array(ValueType(&choices, depth: depth - 1))
            case 18: .dictionary(key: UInt8(ascii: "s"), value: .variant)
            case 19, 20:
                .dictionary(
                    key: choices.one(of: Self.basicTypes), value: ValueType(&choices, depth: depth - 1))
            default: .structure((0...choices.below(3)).map { _ in ValueType(&choices, depth: depth - 1) })
            }
    }

    /// The value of this type that `choices` make, with at most `depth` nested containers.
    ///
    /// Its parts are put together unchecked, since the type is legal: checking would take most of the time.
    func value(_ choices: inout Choices, depth: Int) -> Value {
        switch self {
        case .basic(let code): Self.basicValue(code, &choices)
        case .bytes: .bytes(choices.bytes())
        case .variant: .variant(choices.value(depth: depth - 1))
        case .array(let type):
            .array(ArrayValue(checkedSignature: type.signature, type.values(&choices, depth: depth - 1)))
        case .dictionary(let key, let type):
            .dictionary(
                DictionaryValue(
                    checkedKey: Self.text(key), checkedValue: type.signature,
                    type.values(&choices, depth: depth - 1).map {
                        DictionaryValue.Entry(key: Self.basicValue(key, &choices), value: $0)
                    }))
        case .structure(let types):
            .structure(StructureValue(checked: types.map { $0.value(&choices, depth: depth - 1) }))
        }
    }

    private func values(_ choices: inout Choices, depth: Int) -> [Value] {
        if choices.isAtEnd || depth <= 0 { return [] }
        return (0..<choices.below(4)).map { _ in value(&choices, depth: depth) }
    }

    private static func basicValue(_ code: UInt8, _ choices: inout Choices) -> Value {
        switch Unicode.Scalar(code) {
        case "y": .byte(choices.byte())
        case "b": .boolean(choices.byte() & 1 == 1)
        case "n": .int16(choices.integer())
        case "q": .uint16(choices.integer())
        case "i": .int32(choices.integer())
        case "u": .uint32(choices.integer())
        case "x": .int64(choices.integer())
        case "t": .uint64(choices.integer())
        case "d": .double(Double(bitPattern: choices.integer()))
        case "o": .objectPath((try? ObjectPath("/" + choices.text(atMost: 7))) ?? .root)
        case "g": .signature((try? Signature(choices.text(atMost: 7))) ?? "")
        default: .string(choices.text(atMost: 31))
        }
    }
}

extension Choices {
    /// A value of some type with at most about `depth` nested containers.
    package mutating func value(depth: Int = 70) -> Value {
        if isAtEnd || depth <= 0 { return .boolean(true) }
        return ValueType(&self, depth: min(depth, 30)).value(&self, depth: depth)
    }

    /// A dictionary of values, its keys among others those in `keys`.
    package mutating func properties(keys: [String], _ likelyValue: (String, inout Choices) -> Value)
        -> [String: Value]
    {
        var properties: [String: Value] = [:]
        for _ in 0..<below(keys.count + 1) where !isAtEnd {
            let choice = below(keys.count + 4)
            let key = choice < keys.count ? keys[choice] : text(atMost: 7)
            properties[key] = byte() & 7 == 0 ? value() : likelyValue(key, &self)
        }
        return properties
    }

    /// A dictionary of values of any type.
    package mutating func properties() -> [String: Value] {
        var properties: [String: Value] = [:]
        for _ in 0..<below(8) where !isAtEnd { properties[text(atMost: 7)] = value() }
        return properties
    }
}

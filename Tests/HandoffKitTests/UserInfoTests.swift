// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import FoundationEssentials
import HandoffKit
import Testing

@Suite("User info")
struct UserInfoTests {
    @Test("literals make values of their types")
    func literals() {
        let info: HandoffKit.UserInfo = [
            "name": "Ada", "age": 36, "here": true, "ratio": 0.5, "none": nil, "list": [1, "two"],
            "more": ["a": 1],
        ]
        #expect(info["name"] == .string("Ada"))
        #expect(info["age"] == .int64(36))
        #expect(info["here"] == .boolean(true))
        #expect(info["ratio"] == .double(0.5))
        #expect(info["none"] == .null)
        #expect(info["list"] == .array([.int64(1), .string("two")]))
        #expect(info["more"] == .dictionary(["a": .int64(1)]))
    }

    @Test("typed subscripts give what is there if it fits, and set it")
    func subscripts() {
        var info: HandoffKit.UserInfo = ["age": 36, "name": "Ada", "list": [1, 2], "mixed": [1, "two"]]
        #expect(info["age", as: Int.self] == 36 && info["age", as: UInt8.self] == 36)
        #expect(info["age", as: Double.self] == 36 && info["age", as: String.self] == nil)
        #expect(info["list", as: [Int].self] == [1, 2] && info["mixed", as: [Int].self] == nil)
        info["age", as: Int.self] = 300
        #expect(info["age", as: UInt8.self] == nil)
        info["tags", as: Set<String>.self] = ["a"]
        #expect(info["tags"] == .set(["a"]) && info["tags", as: [String].self] == ["a"])
        info["age", as: Int.self] = nil
        #expect(info["age"] == nil)
        info["day", as: Date.self] = Date(timeIntervalSince1970: 1)
        info["page", as: URL.self] = URL(string: "https://example.org")
        info["bytes", as: Data.self] = Data([1])
        #expect(info["day", as: Date.self] == Date(timeIntervalSince1970: 1))
        #expect(info["page", as: URL.self]?.absoluteString == "https://example.org")
        #expect(info["bytes", as: Data.self] == Data([1]))
    }

    @Test("random values of all types that user info allows come back as they were, both ways")
    func roundTrip() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let value = RandomValues.value(depth: 4, using: &generator)
            let seen = try UserInfoValue(value)
            let sent = try seen.dbusValue()
            #expect(sent.typeSignature == value.typeSignature)
            #expect(RandomValues.normal(sent) == RandomValues.normal(value))
            #expect(try UserInfoValue(sent) == seen)
        }
    }

    @Test("dates and URLs that Foundation cannot hold as they are come back all the same")
    func beyondFoundation() throws {
        for microseconds in [Int64.min, .max, 0, 1, -1, 8_223_372_036_854_775_807, -62_135_769_600_000_001] {
            let value = try Value.structure([.string("date"), .variant(.int64(microseconds))])
            #expect(try UserInfoValue(value).dbusValue() == value)
        }
        for text in ["", " ", "http://[", "a b", "%zz", "https://exämple.org/ü", "\u{202e}"] {
            let value = try Value.structure([.string("url"), .variant(.string(text))])
            #expect(try UserInfoValue(value).dbusValue() == value)
        }
    }

    @Test("what user info does not allow is refused, however it is put together")
    func refusals() throws {
        let path: ObjectPath = "/a"
        for value: Value in [
            .objectPath(path), .variant(.objectPath(path)), try .array(of: "o", [.objectPath(path)]),
            try .structure([.string("date"), .variant(.string("x"))]),
            try .structure([.string("null"), .variant(.boolean(true))]), try .structure([.int32(1)]),
            try .dictionary(key: "i", value: "i", [(.int32(1), .int32(1))]),
        ] {
            #expect(throws: HandoffError.self) { try UserInfoValue(value) }
        }
        for value: UserInfoValue in [
            "\0", ["a\0": 1], .date(Date(timeIntervalSince1970: .infinity)), .typedArray(of: "i", ["x"]),
            .typedArray(of: "nonsense", []), .typedDictionary(of: "i", ["a": "b"]),
            .date(Date(timeIntervalSince1970: 1e300)),
        ] {
            #expect(throws: HandoffError.self) { try value.dbusValue() }
        }
    }

    @Test("a date travels in whole microseconds")
    func dates() throws {
        for seconds in [0, 1_700_000_000.25, -1.5, 64_092_211_200, -62_135_769_600, 1_234_567_890.123456] {
            let date = Date(timeIntervalSince1970: seconds)
            guard case .date(let other) = try UserInfoValue(try UserInfoValue.date(date).dbusValue()) else {
                Issue.record("\(seconds) is no date.")
                continue
            }
            #expect(abs(other.timeIntervalSince(date)) < 0.000001)
        }
    }
}

/// Values as a broker lets them through.
enum RandomValues {
    static func value(depth: Int, using generator: inout some RandomNumberGenerator) -> Value {
        let kind = Int.random(in: 0..<(depth == 0 ? 12 : 20), using: &generator)
        return (try? make(kind, depth: depth, using: &generator)) ?? .boolean(false)
    }

    private static func make(
        _ kind: Int, depth: Int, using generator: inout some RandomNumberGenerator
    ) throws -> Value {
        switch kind {
        case 0: return .byte(.random(in: 0...255, using: &generator))
        case 1: return .boolean(.random(using: &generator))
        case 2: return .int16(.random(in: .min ... .max, using: &generator))
        case 3: return .uint16(.random(in: .min ... .max, using: &generator))
        case 4: return .int32(.random(in: .min ... .max, using: &generator))
        case 5: return .uint32(.random(in: .min ... .max, using: &generator))
        case 6: return .int64(.random(in: .min ... .max, using: &generator))
        case 7: return .uint64(.random(in: .min ... .max, using: &generator))
        case 8: return .double(.random(in: -1e9...1e9, using: &generator))
        case 9: return .string(text(using: &generator))
        case 10: return .bytes((0..<5).map { _ in .random(in: 0...255, using: &generator) })
        case 11: return try .structure([.string("null"), .variant(.boolean(false))])
        case 12:
            return try .structure([
                .string("date"), .variant(.int64(.random(in: .min ... .max, using: &generator))),
            ])
        case 13: return try .structure([.string("url"), .variant(.string(text(using: &generator)))])
        case 14:
            return try .structure([
                .string("set"), .variant(.array(of: "v", variants(depth: depth, using: &generator))),
            ])
        case 15: return .variant(value(depth: depth - 1, using: &generator))
        case 16: return try .array(of: "v", variants(depth: depth, using: &generator))
        case 17:
            let element = value(depth: depth - 1, using: &generator)
            return try .array(of: element.typeSignature, [element, element])
        case 18:
            let element = value(depth: depth - 1, using: &generator)
            return try .dictionary(
                key: "s", value: element.typeSignature, [(.string("a"), element), (.string("b"), element)])
        default:
            var properties: [String: Value] = [:]
            for _ in 0..<3 {
                properties[text(using: &generator)] = value(depth: depth - 1, using: &generator)
            }
            return .properties(properties)
        }
    }

    private static func variants(
        depth: Int, using generator: inout some RandomNumberGenerator
    ) -> [Value] { (0..<3).map { _ in .variant(value(depth: depth - 1, using: &generator)) } }

    private static func text(using generator: inout some RandomNumberGenerator) -> String {
        String(
            (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                "ab:/é漢 %🎈".randomElement(using: &generator) ?? "-"
            })
    }

    /// The same with the elements of sets in an order of their own, each once.
    static func normal(_ value: Value) -> String {
        switch value {
        case .structure(let structure):
            if structure.fields.first == .string("set"),
                case .variant(.array(let array)) = structure.fields.last
            {
                return "set \(Set(array.elements.map(normal)).sorted())"
            }
            return "structure \(structure.fields.map(normal))"
        case .array(let array): return "array \(array.elementSignature) \(array.elements.map(normal))"
        case .dictionary(let dictionary):
            let entries = dictionary.entries.map { "\(normal($0.key)): \(normal($0.value))" }
            return "dictionary \(dictionary.valueSignature) \(entries.sorted())"
        case .variant(let content): return "variant \(normal(content))"
        default: return "\(value)"
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import AdapterSupport
@testable import Platform

@Suite("JSON")
struct JSONTests {
    private func read(_ text: String) throws -> JSONValue { try JSONValue.read(Array(text.utf8)) }

    /// Texts, and what they are.
    private static let accepted: [(text: String, value: JSONValue)] = [
        ("null", JSONValue.null), (" true ", .boolean(true)), ("false", .boolean(false)),
        ("0", .number(0)),
        ("-0.5e2", .number(-50)), ("1E+3", .number(1000)), ("\"\"", ""), ("[]", []), ("{}", [:]),
        ("[1,[2]]", [.integer(1), [.integer(2)]]),
        ("{\"a\":{\"b\":null},\"\":\"c\"}", ["a": ["b": .null], "": "c"]),
        ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\u{8}\u{C}\n\r\t"),
        ("\"ü\\u00fc\\ud83d\\ude00😀\"", "üü😀😀"), ("\t[\r\n]\n", []),
    ]

    @Test("what JSON allows is read", arguments: accepted)
    func allowed(text: String, value: JSONValue) throws { #expect(try read(text) == value) }

    @Test(
        "what JSON does not allow is refused",
        arguments: [
            "", " ", "nul", "nulll", "True", "[1,]", "[,1]", "[1 2]", "[", "]", "{", "{\"a\"}", "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}", "{\"a\":1 \"b\":2}", "{\"a\":1,\"a\":1}", "01", "+1", "1.", ".5", "1e", "1e+", "-",
            "0x1",
            "NaN", "Infinity", "1e999", "\"", "\"a", "\"\n\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\",
            "'a'", "[] []", "// a\n1", "\u{FEFF}1", "\"\\ud800\\u12\"",
        ])
    func refused(text: String) { #expect(throws: JSONError.self) { try read(text) } }

    @Test(
        "half a surrogate pair becomes a replacement character",
        arguments: [
            ("\"a\\ud800\"", "a\u{FFFD}"), ("\"\\ude00b\"", "\u{FFFD}b"),
            ("\"\\ud800\\ud800\\udc00\"", "\u{FFFD}\u{10000}"), ("\"\\ud800\\n\"", "\u{FFFD}\n"),
            ("\"\\ud800\\u0041\"", "\u{FFFD}A"),
        ])
    func lone(text: String, value: String) throws { #expect(try read(text) == .string(value)) }

    @Test("text that is not UTF-8 is refused, also in the name of a member")
    func notText() {
        for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xC3]] {
            let text = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
            #expect(throws: JSONError.self) { try JSONValue.read(text) }
            let object = [UInt8(ascii: "{")] + text + Array(":1}".utf8)
            #expect(throws: JSONError.self) { try JSONValue.read(object) }
        }
    }

    @Test("what nests deeper than it may is refused, however deep it goes on", arguments: ["[", "{\"a\":"])
    func deep(opening: String) throws {
        let closing = opening == "[" ? "]" : "}"
        func nested(_ depth: Int, _ inner: String) -> String {
            String(repeating: opening, count: depth) + inner + String(repeating: closing, count: depth)
        }
        #expect(throws: Never.self) { try read(nested(JSONValue.maximumDepth, "1")) }
        #expect(throws: JSONError.self) { try read(nested(JSONValue.maximumDepth + 1, "1")) }
        #expect(throws: JSONError.self) { try read(nested(10_000, "1")) }
        #expect(throws: JSONError.self) { try read(String(repeating: opening, count: 300_000)) }
    }

    @Test("an error says where it is and quotes nothing")
    func error() {
        #expect(throws: JSONError(reason: "a digit is missing", offset: 8)) { try read("[\"abc\",-]") }
        #expect(throws: JSONError(reason: "a value is missing", offset: 3)) { try read("[1,]") }
    }

    @Test("whole numbers are whole as far as JSON keeps them")
    func integers() throws {
        #expect(try read("9007199254740992").integer == 9_007_199_254_740_992)
        #expect(try read("-12").integer == -12)
        for text in ["9007199254740994", "1e300", "0.5", "\"1\""] { #expect(try read(text).integer == nil) }
    }

    @Test("members and elements are found by what they are")
    func access() throws {
        let value = try read("{\"a\":\"b\",\"c\":null,\"d\":[true,1.5]}")
        #expect(value["a"]?.text == "b")
        #expect(value["c"] == nil && value["x"] == nil && value["a"]?["b"] == nil)
        #expect(value["d"]?.elements?.first?.boolean == true)
        #expect(value["d"]?.elements?.last?.number == 1.5)
        #expect(value["a"]?.boolean == nil && value["a"]?.number == nil && value["a"]?.elements == nil)
    }

    @Test("whatever is written is one line, and is read as it was")
    func roundTrip() throws {
        var random = JSONGenerator(seed: 18)
        for _ in 0..<2000 {
            let value = random.value(depth: 4)
            #expect(!value.bytes.contains { $0 < 0x20 })
            #expect(try JSONValue.read(value.bytes) == value)
        }
    }

    @Test("what is cut anywhere, or has a byte changed, is refused or read, and never stops the program")
    func broken() {
        var random = JSONGenerator(seed: 19)
        for _ in 0..<300 {
            let bytes = JSONValue.array([random.value(depth: 3)]).bytes
            for end in bytes.indices {
                #expect(throws: JSONError.self) { try JSONValue.read(Array(bytes[..<end])) }
            }
            var changed = bytes
            changed[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
                in: 0...255, using: &random)
            _ = try? JSONValue.read(changed)
        }
    }

    @Test("a number that is not finite is written as null")
    func notFinite() {
        #expect(JSONValue.array([.number(.nan), .number(.infinity)]).bytes == Array("[null,null]".utf8))
    }
}

/// Values at random, the same ones for the same seed.
private struct JSONGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }

    mutating func value(depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 6 : 4), using: &self) {
        case 0: return .null
        case 1: return .boolean(Bool.random(using: &self))
        case 2: return .number(number())
        case 3: return .string(text())
        case 4: return .array((0..<Int.random(in: 0..<4, using: &self)).map { _ in value(depth: depth - 1) })
        default:
            let names = (0..<Int.random(in: 0..<4, using: &self)).map { _ in text() }
            return .object(Dictionary(names.map { ($0, value(depth: depth - 1)) }) { $1 })
        }
    }

    private mutating func number() -> Double {
        let bits = Double(bitPattern: next())
        return Bool.random(using: &self) && bits.isFinite ? bits : Double(Int32(truncatingIfNeeded: next()))
    }

    private mutating func text() -> String {
        let scalars = (0..<Int.random(in: 0..<6, using: &self)).compactMap { _ in
            Unicode.Scalar(
                UInt32.random(in: 0..<(Bool.random(using: &self) ? 0x80 : 0x11_0000), using: &self))
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

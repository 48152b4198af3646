// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import TestSupport
import Testing

@Suite("What a UserInfo may hold")
struct UserInfoRulesTests {
    private static func tagged(_ tag: String, _ content: Value) throws -> Value {
        try .structure([.string(tag), .variant(content)])
    }

    @discardableResult
    private func check(_ userInfo: [String: Value]) throws -> Int {
        try UserInfoRules.check(try #require(Value.properties(userInfo).sortedProperties))
    }

    @Test("plain data and the four tags pass, with the size that they have on the bus")
    func allowed() throws {
        let values: [Value] = [
            .byte(1), .boolean(true), .int16(-1), .uint16(1), .int32(-1), .uint32(1), .int64(-1), .uint64(1),
            .double(.nan), .string(""), .bytes([]), .strings(["a"]), .properties(["b": .variant(.byte(1))]),
            try .array(of: "(sv)", []), try .dictionary(key: "s", value: "a{sx}", []),
            try Self.tagged("date", .int64(0)), try Self.tagged("url", .string("any text")),
            try Self.tagged("null", .boolean(false)),
            try Self.tagged(
                "set",
                try .array(of: "v", [.variant(.byte(1)), .variant(try Self.tagged("date", .int64(1)))])
            ),
        ]
        for value in values {
            let size = try check(["key": value])
            #expect(size == MarshalledSize.ofBody(["key": value]), "\(value)")
        }
        #expect(try check([:]) == 8)
    }

    /// Values that are refused, and what is said of them.
    private static func refused() throws -> [(value: Value, reason: String)] {
        let path = Value.variant(.objectPath(.root))
        return [
            (.objectPath(.root), "type o"), (.signature(""), "type g"), (path, "type o"),
            (try .array(of: "o", []), "values of type o,"),
            (try .array(of: "a{so}", []), "values of type a{so},"),
            (try .array(of: "v", [path]), "type o"),
            (try .dictionary(key: "u", value: "s", []), "keys are not strings"),
            (try .array(of: "(ss)", []), "structure of type (ss)"),
            (try .structure([.string("date")]), "structure of type (s)"),
            (try .structure([.byte(1), .variant(.byte(1))]), "structure of type (yv)"),
            (try .structure([.string("date"), .int64(1)]), "structure of type (sx)"),
            (try tagged("other", .int64(1)), "unknown tag \"other\""),
            (try tagged("date", .string("")), "type s as \"date\""),
            (try tagged("url", .int64(0)), "type x as \"url\""),
            (try tagged("null", .boolean(true)), "type b as \"null\""),
            (
                try tagged("set", .array(of: "(sv)", [tagged("date", .int64(0))])),
                "type a(sv) as \"set\""
            ),
            (try tagged("set", .array(of: "v", [path])), "type o"),
        ]
    }

    @Test("what means nothing on another device is refused, naming the key")
    func notAllowed() throws {
        for (value, reason) in try Self.refused() {
            let failure = failure { try check(["good": .byte(1), "bad": value]) }
            #expect(failure?.code == .invalidArguments, "\(value)")
            let message = failure?.message ?? ""
            #expect(message.contains("\"bad\"") && message.contains(reason), "\(message)")
        }
    }

    /// The dictionary is the first container, the variant of its value the second.
    @Test("containers nest 32 deep, each kind counted")
    func depth() throws {
        let room = UserInfoRules.maximumDepth - 2
        try check(["a": .nested(.byte(1), depth: room)])
        try check(["a": .nested(.bytes([1]), depth: room - 1)])
        try check(["a": .nested(try Self.tagged("date", .int64(1)), depth: room - 2)])
        try check([
            "a": .nested(
                try Self.tagged("set", try .array(of: "v", [.variant(.byte(1))])), depth: room - 4)
        ])
        let tooDeep: [Value] = [
            .nested(.byte(1), depth: room + 1), .nested(.bytes([]), depth: room),
            .nested(.strings([]), depth: room), .nested(.properties([:]), depth: room),
            .nested(try Self.tagged("date", .int64(1)), depth: room - 1),
            .nested(try Self.tagged("set", try .array(of: "v", [.variant(.byte(1))])), depth: room - 3),
        ]
        for value in tooDeep {
            let failure = failure { try check(["a": value]) }
            #expect(failure?.code == .invalidArguments, "\(value)")
            #expect(failure?.message.contains("32 containers") == true)
        }
    }

    /// A bus counts the entries of dictionaries too, which the rule does not.
    @Test("what a bus would throw its sender off for is refused, though it nests 32 deep or less")
    func wireDepth() throws {
        func dictionaries(_ depth: Int) throws -> Value {
            guard depth > 0 else { return .byte(1) }
            let inner = try dictionaries(depth - 1)
            return try .dictionary(
                key: "s", value: inner.typeSignature, [(key: .string("a"), value: inner)])
        }
        // Each is one container of the rule's and two of the bus's: the array and its entry.
        try check(["a": dictionaries(29)])
        #expect(failure { try check(["a": dictionaries(30)]) }?.code == .invalidArguments)
    }

    @Test("128 KiB as the body of a message pass, one byte more does not, and both sizes are told")
    func size() throws {
        let overhead = try check(["key": .bytes([])])
        let most = UserInfoRules.maximumSize - overhead
        #expect(try check(["key": .bytes([UInt8](repeating: 0, count: most))]) == 131_072)
        let failure = failure {
            try check(["key": .bytes([UInt8](repeating: 0, count: most + 1))])
        }
        #expect(failure?.code == .userInfoTooLarge)
        #expect(failure?.message.contains("131073") == true && failure?.message.contains("131072") == true)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Testing

@testable import HandoffCommand

@Suite("Values in GVariant text format")
struct VariantTextTests {
    @Test(
        "a text is the value of exactly its type",
        arguments: [
            ("5", "i"), ("uint16 5", "q"), ("byte 5", "y"), ("int16 -5", "n"), ("uint32 5", "u"),
            ("int64 5", "x"),
            ("uint64 5", "t"), ("true", "b"), ("5.0", "d"), ("'a'", "s"), ("objectpath '/a'", "o"),
            ("signature 'a{sv}'", "g"), ("b'ab'", "ay"), ("@ay []", "ay"), ("[1, 2]", "ai"), ("@as []", "as"),
            ("<5>", "v"), ("('date', <int64 5>)", "(sv)"), ("{'a': <1>}", "a{sv}"), ("@a{us} {}", "a{us}"),
            ("{1: [('x', true)]}", "a{ia(sb)}"), ("[<1>, <'a'>]", "av"), ("{'a': {'b': 1}}", "a{sa{si}}"),
        ])
    func types(_ text: String, _ signature: String) throws {
        #expect(try VariantText.value(of: text).typeSignature == signature)
    }

    @Test(
        "a value written as text is the same value when it is read",
        arguments: [
            Value.byte(255), .boolean(false), .int16(.min), .uint16(.max), .int32(.min), .uint32(.max),
            .int64(.min),
            .uint64(.max), .double(0.1), .double(-0.0), .double(1e-300), .string("'\"\\\u{1B}é漢🙂\n"),
            .bytes([]), .bytes([1, 0, 2]), .bytes([65, 0]), .strings([]), .strings(["a", ""]),
            .variant(.variant(.byte(1))),
            .properties([:]), .properties(["a": .strings([]), "b": .variant(.properties(["c": .int64(5)]))]),
            .objectPath("/a/b"), .signature("a{sv}u"),
        ])
    func roundTrip(_ value: Value) throws {
        #expect(try VariantText.value(of: VariantText.text(of: value)) == value)
    }

    @Test("structures and dictionaries of all kinds survive too")
    func containers() throws {
        let structure = try Value.structure([.byte(1), .strings([]), .variant(.double(2))])
        let dictionary = try Value.dictionary(key: "u", value: "(yasv)", [(.uint32(7), structure)])
        let array = try Value.array(of: dictionary.typeSignature, [dictionary, dictionary])
        for value in [structure, dictionary, array] {
            #expect(try VariantText.value(of: VariantText.text(of: value)) == value)
        }
    }

    @Test(
        "what is no text of a value, or has a type that D-Bus lacks, is a wrong command line",
        arguments: ["", "[1,", "handle 3", "@mi 3", "just 1", "()", "@a{ims} {}", "[handle 1]", "x y", "1 2"])
    func refusals(_ text: String) {
        let failure = #expect(throws: CommandFailure.self) { try VariantText.value(of: text) }
        #expect(failure?.status == 2)
        #expect(failure?.message.contains(text) == true)
    }

    @Test("deep nesting is refused without a crash")
    func depth() {
        let text = String(repeating: "<", count: 100_000) + "1" + String(repeating: ">", count: 100_000)
        #expect(throws: CommandFailure.self) { try VariantText.value(of: text) }
    }
}

@Suite("Entries of UserInfo on the command line")
struct UserInfoArgumentTests {
    @Test("KEY=STRING is a string, KEY:=TEXT a value of any type")
    func forms() throws {
        let userInfo = try UserInfoArgument.userInfo(["a=b=c", "n:=uint16 7", "empty=", "x y=:=", "t:='a=b'"])
        #expect(
            userInfo == [
                "a": .string("b=c"), "n": .uint16(7), "empty": .string(""), "x y": .string(":="),
                "t": .string("a=b"),
            ])
    }

    @Test("anything else is a wrong command line", arguments: ["", "a", "=b", ":=1", "a:=", "a:=[1"])
    func refusals(_ text: String) {
        let failure = #expect(throws: CommandFailure.self) { try UserInfoArgument(text) }
        #expect(failure?.status == 2)
    }

    @Test("a key that is given twice is refused")
    func twice() {
        #expect(throws: CommandFailure.self) { try UserInfoArgument.userInfo(["a=1", "a:=2"]) }
    }
}

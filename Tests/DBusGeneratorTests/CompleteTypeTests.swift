// SPDX-License-Identifier: LGPL-2.1-or-later
import DBusGeneratorLibrary
import Testing

@Suite("Types")
struct CompleteTypeTests {
    @Test(
        "each D-Bus type has its Swift type",
        arguments: [
            ("y", "UInt8"), ("b", "Bool"), ("n", "Int16"), ("q", "UInt16"), ("i", "Int32"), ("u", "UInt32"),
            ("x", "Int64"), ("t", "UInt64"), ("d", "Double"), ("s", "String"), ("o", "ObjectPath"),
            ("g", "Signature"), ("h", "FileDescriptor"), ("v", "Value"), ("as", "[String]"),
            ("ay", "[UInt8]"),
            ("aay", "[[UInt8]]"), ("a{sv}", "[String: Value]"),
            ("a{oa{sa{sv}}}", "[ObjectPath: [String: [String: Value]]]"),
            ("(su)", "Structure<String, UInt32>"),
            ("a(s(ii)v)", "[Structure<String, Structure<Int32, Int32>, Value>]"),
        ])
    func mapping(_ signature: String, _ swift: String) throws {
        #expect(try #require(CompleteType(signature)).swift == swift)
    }

    @Test(
        "what is not one complete type is refused",
        arguments: [
            "", "ss", "a", "aa", "()", "(s", "s)", "a{s}", "a{sv", "a{svs}", "a{vs}", "a{asv}", "a{(s)v}",
            "{sv}",
            "({sv})", "z", "r", "e", "a{}", "(a)", "é", "a{s", "a{", "(", "s ",
            String(repeating: "a", count: 33) + "s",
            String(repeating: "(", count: 33) + "s" + String(repeating: ")", count: 33),
            "(" + String(repeating: "s", count: 254) + ")",
        ])
    func refused(_ signature: String) {
        #expect(CompleteType(signature) == nil)
    }

    @Test(
        "a type may be as long and deep as D-Bus allows",
        arguments: [
            String(repeating: "a", count: 32) + "s", "(" + String(repeating: "s", count: 253) + ")",
            String(repeating: "(", count: 32) + "s" + String(repeating: ")", count: 32),
            String(repeating: "a{s(", count: 32) + "s" + String(repeating: ")}", count: 32),
        ])
    func limits(_ signature: String) {
        #expect(CompleteType(signature) != nil)
    }
}

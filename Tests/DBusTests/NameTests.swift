// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Testing

@Suite("Names and signatures")
struct NameTests {
    @Test(
        "valid object paths are taken as they are",
        arguments: ["/", "/a", "/org/example/Handoff", "/_1/a_B", "/0"])
    func paths(_ text: String) throws {
        #expect(try ObjectPath(text).text == text)
    }

    @Test(
        "invalid object paths are refused by name",
        arguments: ["", "a", "/a/", "//", "/a//b", "/a-b", "/a.b", "/ä", "/a\0", "/a\0b", " /a", "/a\n"])
    func badPaths(_ text: String) throws {
        let error = try #require(throws: DBusError.self) { try ObjectPath(text) }
        #expect(error.name == .invalidArgs)
        #expect(error.message.contains("object path"))
    }

    @Test("valid interface names are taken", arguments: ["a.b", "org.example.Handoff", "_a._1", "a.b.c_d"])
    func interfaces(_ text: String) throws {
        #expect(try InterfaceName(text).text == text)
    }

    @Test(
        "invalid interface names are refused",
        arguments: [
            "", "a", ".a.b", "a..b", "a.b.", "a.1b", "a-b.c", "a.b\0", "a.ö",
            "a.\(String(repeating: "x", count: 255))",
        ])
    func badInterfaces(_ text: String) {
        #expect(throws: DBusError.self) { try InterfaceName(text) }
    }

    @Test(
        "valid bus names are taken",
        arguments: [":1.0", ":1.42", "org.example.Handoff", "a-b.c-d", "com._7zip.x"])
    func busNames(_ text: String) throws {
        #expect(try BusName(text).text == text)
    }

    @Test(
        "invalid bus names are refused",
        arguments: ["", "a", "a.1", "a..b", ".a", "a.b\0", "a b.c", ":1..2", ":1.0\n"])
    func badBusNames(_ text: String) {
        #expect(throws: DBusError.self) { try BusName(text) }
    }

    @Test("valid member names are taken", arguments: ["a", "_", "Get1", "RegisterApplication"])
    func members(_ text: String) throws {
        #expect(try MemberName(text).text == text)
    }

    @Test("invalid member names are refused", arguments: ["", "1a", "a.b", "a-b", "ä", "a\0", "a b"])
    func badMembers(_ text: String) {
        #expect(throws: DBusError.self) { try MemberName(text) }
    }

    @Test("error names follow the rules of interface names")
    func errorNames() {
        #expect(throws: Never.self) { try ErrorName("org.example.Handoff.Error.Disabled" as String) }
        for text in ["", "a", "a..b", "1.a", "a.b\0"] {
            #expect(throws: DBusError.self) { try ErrorName(text) }
        }
    }

    @Test("a long wrong name is cut in the message")
    func longName() throws {
        let error = try #require(throws: DBusError.self) {
            try ObjectPath(String(repeating: "x", count: 100_000))
        }
        #expect(error.message.utf8.count < 400)
    }

    @Test("paths know their children, what is below them, and their last element")
    func pathParts() throws {
        let path: ObjectPath = "/org/example"
        #expect(try path.appending("Handoff") == "/org/example/Handoff")
        #expect(try ObjectPath.root.appending("org") == "/org")
        for element in ["", "a-b", "ä", "a/"] {
            #expect(throws: DBusError.self) { try path.appending(element) }
        }
        #expect(ObjectPath("/org/example/a/b").suffix(below: path) == "a/b")
        #expect(ObjectPath("/org/examples").suffix(below: path) == nil)
        #expect(path.suffix(below: path) == nil)
        #expect(path.suffix(below: .root) == "org/example")
        #expect(ObjectPath.root.suffix(below: .root) == nil)
        #expect(path.lastElement == "example")
        #expect(ObjectPath.root.lastElement.isEmpty)
    }

    @Test(
        "signatures are split into their complete types",
        arguments: [
            ("", []), ("s", ["s"]), ("sa{sv}", ["s", "a{sv}"]), ("aas(i(ax))v", ["aas", "(i(ax))", "v"]),
            ("a{s(ii)}u", ["a{s(ii)}", "u"]), ("a(a{sa{sv}})", ["a(a{sa{sv}})"]),
        ])
    func signatures(_ text: String, _ types: [String]) throws {
        #expect(try Signature(text).types == types)
    }

    @Test(
        "what is no signature is refused",
        arguments: ["z", "a", "(", ")", "()", "{sv}", "a{vs}", "a{s}", "a{sss}", "s\0", "(s", "é", "a{(s)s}"])
    func badSignatures(_ text: String) {
        #expect(throws: DBusError.self) { try Signature(text) }
    }

    @Test("signatures may have 255 characters, 32 arrays and 32 structures, and no more")
    func signatureLimits() {
        #expect(Signature.isValid(String(repeating: "s", count: 255)))
        #expect(!Signature.isValid(String(repeating: "s", count: 256)))
        #expect(Signature.isSingle(String(repeating: "a", count: 32) + "y"))
        #expect(!Signature.isSingle(String(repeating: "a", count: 33) + "y"))
        func structures(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + "y" + String(repeating: ")", count: depth)
        }
        #expect(Signature.isSingle(structures(32)))
        #expect(!Signature.isSingle(structures(33)))
        #expect(!Signature.isSingle("ss"))
        #expect(!Signature.isSingle(""))
    }

    @Test("match rules name what they match")
    func matchRules() {
        #expect(
            MatchRule.ownerChange(of: "org.example.A").text
                == "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                + "member='NameOwnerChanged',arg0='org.example.A'")
        #expect(
            MatchRule(sender: ":1.1", interface: "a.b", path: "/x").text
                == "type='signal',sender=':1.1',interface='a.b',path='/x'")
    }
}

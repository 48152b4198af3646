// SPDX-License-Identifier: LGPL-2.1-or-later
import DBusGeneratorLibrary
import Testing

/// A file, and what the generator says about it.
struct Refusal: Sendable, CustomTestStringConvertible {
    let line: Int
    let reason: String
    let file: String

    /// The members of an interface, from line 4 on.
    static func members(_ line: Int, _ reason: String, _ members: String) -> Refusal {
        Refusal(
            line: line, reason: reason, file: String(decoding: Sample.file(members).bytes, as: UTF8.self))
    }

    /// A method, documented, in line 4.
    static func method(_ line: Int, _ reason: String, _ arguments: String) -> Refusal {
        members(line, reason, "<!-- D. --><method name=\"Go\">\(arguments)</method>")
    }

    /// A whole file.
    static func file(_ line: Int, _ reason: String, _ file: String) -> Refusal {
        Refusal(line: line, reason: reason, file: file)
    }

    var testDescription: String { reason }
}

@Suite("A file that is wrong is refused with its line and the reason")
struct RefusalTests {
    private func check(_ refusal: Refusal) {
        let error = #expect(throws: GenerationError.self) {
            try Generator.swift(from: [Sample.file(text: refusal.file)])
        }
        #expect(error?.description == "test.xml:\(refusal.line):1: error: \(refusal.reason)")
    }

    @Test(
        "malformed XML",
        arguments: [
            .file(1, "the XML is malformed: document was empty or contained only whitespace", ""),
            .file(2, "text is not allowed here: “two words”", "<node>\ntwo\nwords\n</node>"),
            .file(2, "the element a is not allowed in node", "<!-- D. -->\n<node><a>\n\n</a></node>"),
            .file(2, "the element a is not allowed in node", "<node>\n<a/>\n</node>"),
            .file(1, "text is not allowed here: “word”", "<node>word</node>"),
            .file(1, "text is not allowed here: “<”", "<node>&lt;&#10;</node>"),
            .file(2, "the XML is malformed: Entity name “a b” is not known", "<node>&a\nb;</node>"),
            .file(1, "the elements nest too deeply", String(repeating: "<node>", count: 9)),
            .file(1, "this is not allowed here: “<![CDATA[x]]>”", "<node><![CDATA[x]]></node>"),
            .file(1, "this is not allowed here: “<?php x?>”", "<?php x?><node/>"),
            .file(
                2, "control characters, carriage returns among them, are not allowed", "<node>\n\u{1}</node>"),
            .file(1, "control characters, carriage returns among them, are not allowed", "<node>\r\n</node>"),
            .file(
                3,
                "the XML is malformed: element 'node' was closed, but the currently open element is 'interface'",
                "<node>\n<interface name=\"a.B\">\n</node>"),
        ] as [Refusal])
    func malformed(_ refusal: Refusal) {
        let error = #expect(throws: GenerationError.self) {
            try Generator.swift(from: [Sample.file(text: refusal.file)])
        }
        #expect(error?.line == refusal.line)
        // How GLib words what is malformed is its own business.
        let reason = refusal.reason.prefix { $0 != ":" }
        #expect(error?.reason.hasPrefix(reason) == true, "\(error?.reason ?? "no error")")
    }

    @Test(
        "the outer elements",
        arguments: [
            .file(1, "expected the element node, found nodes", "<nodes/>"),
            .file(2, "only one element may stand at the top of a file", "<node/>\n<node/>"),
            .file(1, "the file declares no interface", "<node/>"),
            .file(1, "node has no attribute name", "<node name=\"/\"/>"),
            .file(2, "the element method is not allowed in node", "<node>\n<method name=\"A\"/></node>"),
            .file(2, "the attribute name of interface is missing", "<node>\n<interface/></node>"),
            .file(
                1, "“Test” is not a name for an interface, which is one like org.example.Name",
                "<node><interface name=\"Test\"/></node>"),
            .file(
                1, "“a..B” is not a name for an interface, which is one like org.example.Name",
                "<node><interface name=\"a..B\"/></node>"),
            .file(
                1, "“a.1.B” is not a name for an interface, which is one like org.example.Name",
                "<node><interface name=\"a.1.B\"/></node>"),
            .file(
                1, "“a.b” is not a name for an interface, which is one like org.example.Name",
                "<node><interface name=\"a.b\"/></node>"),
            .file(
                2, "a.B is not documented: describe it in a comment directly before it",
                "<!-- Too early. --><node>\n<interface name=\"a.B\"/></node>"),
            .file(
                2, "a file declares one interface; this is the second",
                "<node><!-- D. --><interface name=\"a.B\"/>\n<!-- D. --><interface name=\"a.C\"/></node>"),
        ] as [Refusal])
    func outer(_ refusal: Refusal) { check(refusal) }

    @Test(
        "members",
        arguments: [
            .members(4, "the element struct is not allowed in interface", "<struct/>"),
            .members(4, "the attribute name of method is missing", "<method/>"),
            .members(
                4, "“go” is not a name for a method: write it in UpperCamelCase", "<method name=\"go\"/>"),
            .members(
                4, "“A_B” is not a name for a signal: write it in UpperCamelCase", "<signal name=\"A_B\"/>"),
            .members(4, "“” is not a name for a method: write it in UpperCamelCase", "<method name=\"\"/>"),
            .members(4, "method has no attribute colour", "<!-- D. --><method name=\"Go\" colour=\"red\"/>"),
            .members(
                4, "the attribute name of method is given twice",
                "<!-- D. --><method name=\"Go\" name=\"Go\"/>"),
            .members(
                4, "Go is not documented: describe it in a comment directly before it",
                "<method name=\"Go\"/>"),
            .members(
                4, "Go is not documented: describe it in a comment directly before it",
                "<!-- --><method name=\"Go\"/>"),
            .members(
                5, "there is a member Go already, in line 4",
                "<!-- D. --><method name=\"Go\"/>\n<!-- D. --><signal name=\"Go\"/>"),
            .members(
                4, "the attribute access of property is missing",
                "<!-- D. --><property name=\"P\" type=\"s\"/>"),
            .members(
                4, "access is read, write or readwrite, not “all”",
                "<!-- D. --><property name=\"P\" type=\"s\" access=\"all\"/>"),
            .members(
                4, "“ss” is not one complete D-Bus type",
                "<!-- D. --><property name=\"P\" type=\"ss\" access=\"read\"/>"),
            .members(
                4, "a property can't hold file descriptors (type h)",
                "<!-- D. --><property name=\"P\" type=\"ah\" access=\"read\"/>"),
        ] as [Refusal])
    func members(_ refusal: Refusal) { check(refusal) }

    @Test(
        "arguments",
        arguments: [
            .method(5, "the attribute type of arg is missing", "\n<arg name=\"a\"/>"),
            .method(4, "the attribute name of arg is missing", "<arg type=\"s\"/>"),
            .method(
                4, "“aB” is not a name for an argument: write it in snake_case",
                "<arg name=\"aB\" type=\"s\"/>"),
            .method(
                4, "“a__b” is not a name for an argument: write it in snake_case",
                "<arg name=\"a__b\" type=\"s\"/>"),
            .method(4, "direction is in or out, not “up”", "<arg name=\"a\" type=\"s\" direction=\"up\"/>"),
            .method(4, "“a{vs}” is not one complete D-Bus type", "<arg name=\"a\" type=\"a{vs}\"/>"),
            .method(
                4, "a file descriptor (type h) can only be an argument of its own",
                "<arg name=\"a\" type=\"(sh)\"/>"),
            .method(
                5, "there is an argument a already",
                "<arg name=\"a\" type=\"s\"/>\n<arg name=\"a\" type=\"s\"/>"),
            .method(
                4, "the element arg is not allowed in arg",
                "<arg name=\"a\" type=\"s\"><arg/></arg>"),
            .members(
                4, "an argument of a signal has no direction but “out”",
                "<!-- D. --><signal name=\"S\"><arg name=\"a\" type=\"s\" direction=\"in\"/></signal>"),
            .members(
                4, "a signal can't carry file descriptors (type h)",
                "<!-- D. --><signal name=\"S\"><arg name=\"a\" type=\"h\"/></signal>"),
        ] as [Refusal])
    func arguments(_ refusal: Refusal) { check(refusal) }
}

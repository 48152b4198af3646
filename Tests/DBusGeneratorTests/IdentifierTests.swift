// SPDX-License-Identifier: LGPL-2.1-or-later
import DBusGeneratorLibrary
import Testing

@Suite("Swift names")
struct IdentifierTests {
    @Test(
        "a name that is taken is refused",
        arguments: [
            .members(
                5, "the Swift name setTitle is that of the member in line 4 already",
                """
                <!-- D. --><method name="SetTitle"/>
                <!-- D. --><property name="Title" type="s" access="readwrite"/>
                """),
            .members(
                4, "the Swift name object is needed by the generated code itself",
                "<!-- D. --><method name=\"Object\"/>"),
            .members(
                4, "the Swift name self is needed by the generated code itself",
                "<!-- D. --><method name=\"Self\"/>"),
            .members(
                4, "the Swift name description is needed by the generated code itself",
                "<!-- D. --><signal name=\"Description\"/>"),
            .members(
                4, "the Swift name TestBinding comes from test.xml already",
                "<!-- D. --><signal name=\"Binding\"/>"),
            .method(
                4, "the Swift name timeout is not free for an argument", "<arg name=\"timeout\" type=\"s\"/>"),
            .method(
                4, "the Swift name self is not free for an argument",
                "<arg name=\"self\" type=\"s\" direction=\"out\"/>"),
            .method(
                4, "there is an argument a1 already",
                "<arg name=\"a_1\" type=\"s\"/><arg name=\"a1\" type=\"s\"/>"),
        ] as [Refusal])
    func taken(_ refusal: Refusal) {
        let error = #expect(throws: GenerationError.self) {
            try Generator.swift(from: [Sample.file(text: refusal.file)])
        }
        #expect(error?.description == "test.xml:\(refusal.line):1: error: \(refusal.reason)")
    }

    @Test("types of different files must not get the same name")
    func typesOfTwoFiles() {
        let files = ["com.example.Test", "org.example.Test"].map { name in
            SourceFile(path: "\(name).xml", bytes: Sample.file("", name: name).bytes)
        }
        let error = #expect(throws: GenerationError.self) { try Generator.swift(from: files) }
        #expect(
            error?.description
                == "org.example.Test.xml:2:1: error: the Swift name TestServer comes from com.example.Test.xml already"
        )
    }

    @Test("an interface is declared once")
    func oneInterfaceTwice() {
        let file = Sample.file("")
        let error = #expect(throws: GenerationError.self) { try Generator.swift(from: [file, file]) }
        #expect(error?.reason == "the interface com.example.Test is declared in test.xml already")
    }

    @Test("a type must not hide one that the generated code uses")
    func hidingType() {
        let error = #expect(throws: GenerationError.self) {
            try Generator.swift(from: [Sample.file("", name: "com.example.Interface")])
        }
        #expect(error?.reason == "the Swift name InterfaceBinding is needed by the generated code itself")
    }

    @Test("only the first letter of a member is lowered, and Swift's words are quoted")
    func members() throws {
        let text = try Generator.swift(from: [
            Sample.file(
                """
                <!-- D. --><method name="Continue"><arg name="in" type="s"/><arg name="call" type="s"/></method>
                <!-- D. --><property name="WebpageURL" type="s" access="readwrite"/>
                """)
        ])[0]
        #expect(
            text.contains("func `continue`(in: String, call: String, _ call_: MethodCall) throws\n"))
        #expect(text.contains("try writer.write(`in`)\n"))
        #expect(text.contains("var webpageURL: String { get }\n"))
        #expect(text.contains("func setWebpageURL(_ value: String, _ call: MethodCall) throws\n"))
    }
}

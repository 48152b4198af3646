// SPDX-License-Identifier: LGPL-2.1-or-later
import DBusGeneratorLibrary
import Testing

@Suite("Annotations")
struct AnnotationTests {
    private static let access = "org.example.Handoff.Access"
    private static let writeAccess = "org.example.Handoff.WriteAccess"
    private static let setter = "org.example.Handoff.Setter"
    private static let waits = "org.example.Handoff.Waits"
    private static let packed = "org.example.Handoff.Packed"
    private static let typeName = "org.example.Handoff.TypeName"
    private static let emits = "org.freedesktop.DBus.Property.EmitsChangedSignal"
    private static let classes = "any, owner, unsandboxed, bridge, broker, agent, stranger, paired, routed"

    private static func annotation(_ name: String, _ value: String) -> String {
        "<annotation name=\"\(name)\" value=\"\(value)\"/>"
    }

    private static func property(_ access: String, _ content: String) -> String {
        "<!-- D. --><property name=\"P\" type=\"s\" access=\"\(access)\">\(content)</property>"
    }

    @Test(
        "a wrong annotation is refused",
        arguments: [
            .method(4, "the annotation “a.b” is not known for method", annotation("a.b", "")),
            .method(
                4, "the annotation “\(writeAccess)” is not known for method", annotation(writeAccess, "any")),
            .method(4, "the annotation “\(emits)” is not known for method", annotation(emits, "true")),
            .method(4, "\(access) is one of \(classes), not “all”", annotation(access, "all")),
            .method(
                5, "the annotation \(access) is given twice",
                annotation(access, "any") + "\n" + annotation(access, "any")),
            .members(
                4, "the annotation “\(access)” is not known for signal",
                "<!-- D. --><signal name=\"S\">\(annotation(access, "any"))</signal>"),
            .members(
                4, "\(emits) is one of true, invalidates, const, false, not “yes”",
                property("read", annotation(emits, "yes"))),
            .members(
                4, "\(setter) is one of own, common, not “one”", annotation(setter, "one")),
            .method(4, "\(waits) is one of true, false, not “yes”", annotation(waits, "yes")),
            .method(
                4, "only properties (type a{sv}) can be packed",
                "<arg name=\"a\" type=\"s\" direction=\"out\">" + annotation(packed, "true") + "</arg>"),
            .method(
                4, "the annotation “\(packed)” is not known for method", annotation(packed, "true")),
            .members(
                4, "P can't be written, so nobody waits: leave \(waits) out",
                property("read", annotation(waits, "true"))),
            .members(
                2, "P waits, so \(setter) can't be “common”",
                annotation(setter, "common") + property("write", annotation(waits, "true"))),
            .members(
                4, "\(typeName) is a name in UpperCamelCase, not “menu”", annotation(typeName, "menu")),
            .file(
                1, "“a.1” is not a name for an interface, which is one like org.example.Name",
                "<node><!-- D. --><interface name=\"a.1\">\(annotation(typeName, "B"))</interface></node>"),
            .members(
                4, "the annotation “\(setter)” is not known for property",
                property("readwrite", annotation(setter, "own"))),
            .members(
                2, "com.example.Test has no property to write, so \(setter) can't be “common”",
                annotation(setter, "common") + property("read", "")),
            .members(
                4, "P can't be written, so nobody needs \(writeAccess)",
                property("read", annotation(writeAccess, "any"))),
            .members(
                4, "P can be written, so \(emits) can't be “const”",
                property("readwrite", annotation(emits, "const"))),
            .file(
                2, "nothing says who may call Go: add the annotation \(access)",
                "<node><!-- D. --><interface name=\"a.B\">\n<!-- D. --><method name=\"Go\"/></interface></node>"
            ),
            .file(
                2, "nothing says who may use P: add the annotation \(access)",
                "<node><!-- D. --><interface name=\"a.B\">\n\(property("read", ""))</interface></node>"),
        ] as [Refusal])
    func refused(_ refusal: Refusal) {
        let error = #expect(throws: GenerationError.self) {
            try Generator.swift(from: [Sample.file(text: refusal.file)])
        }
        #expect(error?.description == "test.xml:\(refusal.line):1: error: \(refusal.reason)")
    }

    @Test("an interface whose name ends in no name for a type has its types called as an annotation says")
    func typeNames() throws {
        let file = """
            <node>
              <!-- A menu. -->
              <interface name="com.example.dbusmenu1">
                \(Self.annotation(Self.access, "any"))
                \(Self.annotation(Self.typeName, "Menu"))
                <!-- Goes. --><method name="Go"/>
                <!-- Gone. --><signal name="Gone"/>
              </interface>
            </node>
            """
        let swift = try Generator.swift(from: [Sample.file(text: file)])[0]
        for text in [
            "package protocol MenuServer", "package struct MenuBinding", "package struct MenuProxy",
            "package struct MenuGone", "name: \"com.example.dbusmenu1\"",
        ] { #expect(swift.contains(text)) }
        #expect(!swift.contains(Self.typeName))
    }

    @Test("annotations for the generators of other languages change nothing of what is made")
    func foreignAnnotations() throws {
        let qt = "org.qtproject.QtDBus.QtTypeName"
        let descriptors = Self.annotation("org.gtk.GDBus.C.UnixFD", "true")
        // The lines of what is made tell where a member stands in its file, so that these stay where they are.
        func file(_ method: String, _ signal: String, _ property: String) -> SourceFile {
            Sample.file(
                """
                <!-- D. --><method name="Go">\(method)<!-- E. --><arg type="a{sv}" name="where" direction="in"/></method>
                <!-- D. --><signal name="Gone">\(signal)<!-- E. --><arg type="a{sv}" name="where"/></signal>
                \(Self.property("read", property))
                """)
        }
        let plain = file("", "", "")
        let annotated = file(
            descriptors + Self.annotation("\(qt).In0", "QVariantMap"),
            Self.annotation("\(qt).Out0", "QVariantMap"), Self.annotation(qt, "QString"))
        #expect(try Generator.swift(from: [annotated]) == Generator.swift(from: [plain]))
        #expect(try Interface(annotated).xml == Interface(plain).xml)
    }

    /// What the interface says, what the property says, who may read, who may write.
    @Test(
        "write access defaults to the interface's and then to the access of the member",
        arguments: [
            ("", "any", "any"),
            (annotation(access, "owner"), "owner", "owner"),
            (annotation(writeAccess, "owner"), "any", "owner"),
            (annotation(access, "owner") + annotation(writeAccess, "broker"), "owner", "broker"),
        ])
    func defaults(_ annotations: String, _ access: String, _ writeAccess: String) throws {
        let interface = try Interface(Sample.file(Self.property("readwrite", annotations)))
        #expect(interface.properties.map(\.access) == [access])
        #expect(interface.properties.map(\.writeAccess) == [writeAccess])
    }

    @Test("the interface's write access is that of its properties")
    func interfaceWriteAccess() throws {
        let file = Sample.file(Self.annotation(Self.writeAccess, "owner") + Self.property("readwrite", ""))
        #expect(try Interface(file).properties.map(\.writeAccess) == ["owner"])
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBusGeneratorLibrary
import Testing

@Suite("Generated text")
struct GeneratedTextTests {
    @Test("a protocol requires the methods and properties and carries their documentation")
    func server() throws {
        let text = try Generator.swift(from: [Sample.file(text: Sample.notes)])[0]
        #expect(
            text.contains(
                """
                /// A list of "notes" & more.
                ///
                /// Kept by its owner.
                @MainLoop
                package protocol NotesServer: AnyObject {
                    /// Adds a note.
                    ///
                    /// - Parameter noteText: Its text.
                    /// - Returns: Its number.
                    func add(noteText: String, _ call: MethodCall) throws -> UInt32
                    /// How many there are.
                    var count: UInt32 { get }
                    /// Whether notes can be added.
                    var locked: Bool { get }
                    /// Sets Locked.
                    func setLocked(_ value: Bool, _ call: MethodCall) throws
                }
                """))
    }

    @Test("a binding dispatches by index")
    func binding() throws {
        let text = try Generator.swift(from: [Sample.file(text: Sample.notes)])[0]
        #expect(
            text.contains(
                """
                        switch method {
                        case 0:
                            var reader = MessageReader(call.message)
                            let result = try server.add(noteText: reader.read(), call)
                            return try call.reply { (writer) throws(DBusError) in
                                try writer.write(result)
                            }
                """))
        #expect(text.contains("        case 1: try writer.write(server.locked)\n"))
        #expect(text.contains("        case 1: try server.setLocked(reader.read(), call)\n"))
    }

    @Test("what waits is asynchronous, and has functions of its own in the binding")
    func waiting() throws {
        let waits = "<annotation name=\"org.example.Handoff.Waits\" value=\"true\"/>"
        let file = Sample.file(
            """
            <!-- D. --><method name="Go">\(waits)</method>
            <!-- D. --><method name="Stay"/>
            <!-- D. --><property name="Title" type="s" access="write">\(waits)</property>
            """)
        let text = try Generator.swift(from: [file])[0]
        for part in [
            "func go(_ call: MethodCall) async throws\n", "func stay(_ call: MethodCall) throws\n",
            "func setTitle(_ value: String, _ call: MethodCall) async throws\n",
            "func handle(_ method: Int, _ call: MethodCall) throws -> Message {\n        switch method {\n        case 1:",
            "func handleWaiting(_ method: Int, _ call: MethodCall) async throws -> Message {\n        switch method {\n        case 0:",
            "case 0: try await server.setTitle(reader.read(), call)\n",
            ".init(name: \"Go\", input: \"\", access: \"any\", waits: true),",
        ] { #expect(text.contains(part), "\(part)") }
    }

    @Test("properties that are packed are given and returned as the bytes that they are, on both sides")
    func packing() throws {
        let file = Sample.file(
            """
            <!-- D. --><method name="Get"><arg type="a{sv}" name="query" direction="in"/><arg type="a{sv}" name="all" direction="out">
            <annotation name="org.example.Handoff.Packed" value="true"/></arg></method>
            <!-- D. --><method name="Put"><arg type="a{sv}" name="all" direction="in">
            <annotation name="org.example.Handoff.Packed" value="true"/></arg></method>
            """)
        let text = try Generator.swift(from: [file])[0]
        for part in [
            "func get(query: [String: Value], _ call: MethodCall) throws -> PackedProperties\n",
            "func put(all: PackedProperties, _ call: MethodCall) throws\n",
            "input: \"a{sv}\", access: ", "output: \"a{sv}\"",
        ] { #expect(text.contains(part), "\(part)") }
    }

    @Test("with a common setter, one requirement takes every write, by name and with a value of the type")
    func commonSetter() throws {
        let file = Sample.file(
            """
            <annotation name="org.example.Handoff.Setter" value="common"/>
            <!-- D. --><property name="Read" type="s" access="read"/>
            <!-- D. --><property name="Title" type="s" access="readwrite"/>
            <!-- D. --><property name="Info" type="a{sv}" access="write"/>
            """)
        let text = try Generator.swift(from: [file])[0]
        #expect(
            text.contains(
                """
                    var title: String { get }
                    /// Sets the property of this name, which can be written, to `value`, which has its type.
                    func set(_ property: String, to value: Value, _ call: MethodCall) throws
                }
                """))
        #expect(
            text.contains(
                """
                        switch property {
                        case 1: try server.set("Title", to: reader.readAnyValue(), call)
                        case 2: try server.set("Info", to: reader.readAnyValue(), call)
                        default:
                """))
        // A proxy has one for each all the same.
        #expect(!text.contains("func setTitle(_ value: String, _ call: MethodCall)"))
        #expect(text.contains("func setTitle(_ value: String"))
    }

    @Test("a description says types and who may do what")
    func description() throws {
        let text = try Generator.swift(from: [Sample.file(text: Sample.notes)])[0]
        #expect(text.contains(#".init(name: "Add", input: "s", access: "any"),"#))
        #expect(
            text.contains(
                """
                .init(name: "Locked", signature: "b", isReadable: true, isWritable: true, access: "any", \
                writeAccess: "owner"),
                """))
    }

    @Test("a descriptor is consumed by a server and borrowed by a proxy, and is not returned in a tuple")
    func descriptors() throws {
        let file = Sample.file(
            """
            <!-- D. --><method name="Swap"><arg name="mine" type="h"/><arg name="yours" type="h" direction="out"/>
            <arg name="size" type="t" direction="out"/></method>
            """)
        let text = try Generator.swift(from: [file])[0]
        #expect(
            text.contains(
                "swap(mine: consuming FileDescriptor, _ call: MethodCall) throws -> TestSwapReply\n"))
        #expect(text.contains("package func swap(mine: borrowing FileDescriptor, timeout: Duration"))
        #expect(text.contains("package struct TestSwapReply: ~Copyable, Sendable {\n"))
    }

    @Test("Introspect's XML ends with the documentation and without what is only for this project")
    func xml() throws {
        let interface = try Interface(Sample.file(text: Sample.notes))
        #expect(
            interface.xml.hasPrefix(
                """
                  <interface name="com.example.Notes">
                    <annotation name="org.gtk.GDBus.DocString" \
                value="A list of &quot;notes&quot; &amp; more.&#10;&#10;Kept by its owner."/>
                    <method name="Add">
                      <annotation name="org.gtk.GDBus.DocString" value="Adds a note."/>
                      <arg type="s" name="note_text" direction="in">
                        <annotation name="org.gtk.GDBus.DocString" value="Its text."/>
                      </arg>
                """))
        #expect(
            interface.xml.contains(
                #"<annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>"#))
        #expect(!interface.xml.contains("org.example.Handoff"))
        #expect(interface.xml.hasSuffix("\n  </interface>\n"))
    }

    @Test(
        "no documentation can end the literal that holds it",
        arguments: [
            "\"\"\" }", "\\(1)", "\\", "\\#(x)", "]]> <b> &amp;", "*/ /*", "a\tb", "ünïcode ‘x’",
        ])
    func hostileDocumentation(_ documentation: String) throws {
        let file = Sample.file("<!-- \(documentation) --><method name=\"Go\"/>")
        #expect(try Interface(file).methods[0].documentation == [documentation])
        let text = try Generator.swift(from: [file])[0]
        let code = text.split(separator: "\n").filter { !$0.contains("/// ") }.joined(separator: "\n")
        let parts = code.split(separator: "\"\"\"")
        try #require(parts.count == 3)
        #expect(!parts[1].replacing("\\\\", with: "").contains("\\"))
    }
}

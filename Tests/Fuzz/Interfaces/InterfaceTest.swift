// SPDX-License-Identifier: LGPL-2.1-or-later
import CGio
import DBusGeneratorLibrary
import FuzzSupport

/// Files that claim to declare an interface.
enum InterfaceTest {
    static func run(_ bytes: [UInt8]) {
        check(bytes)
        // What is allowed at its place.
        check(
            Array("<node><!-- D. --><interface name=\"a.B\">".utf8) + bytes
                + Array("</interface></node>".utf8))
    }

    private static func check(_ bytes: [UInt8]) {
        let file = SourceFile(path: "fuzz.xml", bytes: bytes)
        do throws(GenerationError) {
            let text = try Generator.swift(from: [file])[0]
            try check(Interface(file), text)
        } catch {
            let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
            require((1...lines).contains(error.line), "an error in line \(error.line) of \(lines)")
            require(!error.reason.isEmpty && !error.reason.contains("\n"), "the reason “\(error.reason)”")
        }
    }

    private static func check(_ interface: Interface, _ text: String) {
        // The text of a file appears in documentation and in the text for Introspect, and nowhere else.
        let code = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("///") }
        let parts = code.joined(separator: "\n").split(separator: "\"\"\"", omittingEmptySubsequences: false)
        require(parts.count == 3, "\(parts.count) parts")
        let isPlain = (parts[0] + parts[2]).unicodeScalars.allSatisfy {
            ("\u{20}"..<"\u{7F}").contains($0) || ["\n", "“", "”"].contains($0)
        }
        require(isPlain, text)
        require(!parts[1].replacing("\\\\", with: "").contains("\\"), "\(parts[1])")
        let node = g_dbus_node_info_new_for_xml("<node>\(interface.xml)</node>", nil)
        guard let node else { fatalError(interface.xml) }
        g_dbus_node_info_unref(node)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Foundation

/// Ends the program, saying why.
func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}

/// What blueprint-compiler makes of a template: the XML that GtkBuilder reads.
func compiled(_ template: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["blueprint-compiler", "compile", template]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    // It says itself, with file and line, what is wrong, but on the same output.
    guard process.terminationStatus == 0 else { fail("\(template):1: error: \(text)") }
    return text
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 2, let output = arguments.first else {
    fail("Usage: template-generator OUTPUT.swift TEMPLATE.blp…")
}
do {
    var lines = ["/// The windows of this program, as GtkBuilder reads them.", "enum Templates {"]
    for template in arguments.dropFirst() {
        let words = URL(fileURLWithPath: template).deletingPathExtension().lastPathComponent.split(
            separator: "-")
        let name = words.prefix(1) + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        lines.append("    static let \(name.joined()) = ##\"\"\"\n\(try compiled(template))\n\"\"\"##")
    }
    lines.append("}\n")
    try lines.joined(separator: "\n").write(toFile: output, atomically: true, encoding: .utf8)
} catch {
    fail("error: \(error.localizedDescription)")
}

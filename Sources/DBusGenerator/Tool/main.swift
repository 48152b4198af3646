// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBusGeneratorLibrary
internal import Foundation

/// Ends the program, saying why.
func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 2, let output = arguments.first else {
    fail("Usage: dbus-generator OUTPUT.swift INTERFACE.xml…")
}
do {
    let files = try arguments.dropFirst().map { path in
        SourceFile(path: path, bytes: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
    }
    try Generator.swift(from: files).write(toFile: output, atomically: true, encoding: .utf8)
} catch let error as GenerationError {
    fail(error.description)
} catch {
    fail("error: \(error.localizedDescription)")
}

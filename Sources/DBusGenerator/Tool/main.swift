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
    fail("Usage: dbus-generator FOLDER INTERFACE.xml…")
}
do {
    let files = try arguments.dropFirst().map { path in
        SourceFile(path: path, bytes: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
    }
    for (file, text) in zip(files, try Generator.swift(from: files)) {
        let name = URL(fileURLWithPath: file.path).deletingPathExtension().lastPathComponent
        let source = URL(fileURLWithPath: output).appending(path: "\(name).swift")
        // What has not changed is not compiled again.
        guard (try? String(contentsOf: source, encoding: .utf8)) != text else { continue }
        try text.write(to: source, atomically: true, encoding: .utf8)
    }
} catch let error as GenerationError {
    fail(error.description)
} catch {
    fail("error: \(error.localizedDescription)")
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBusGeneratorLibrary
import Foundation
import Testing

@Suite("The interfaces of this project")
struct InterfaceFilesTests {
    /// The interface files of this package.
    private static func files() throws -> [SourceFile] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../data/dbus-1/interfaces").standardized
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "xml" }
            .sorted { $0.path < $1.path }
            .map { SourceFile(path: $0.lastPathComponent, bytes: [UInt8](try Data(contentsOf: $0))) }
    }

    @Test("each member has an access class and documentation")
    func complete() throws {
        let files = try Self.files()
        #expect(!files.isEmpty)
        for file in files {
            let interface = try Interface(file)
            #expect(!interface.documentation.isEmpty, "\(interface.name)")
            for method in interface.methods {
                #expect(!method.access.isEmpty, "\(interface.name).\(method.name)")
                #expect(!method.documentation.isEmpty, "\(interface.name).\(method.name)")
            }
            for property in interface.properties {
                #expect(
                    !property.access.isEmpty && !property.writeAccess.isEmpty,
                    "\(interface.name).\(property.name)")
                #expect(!property.documentation.isEmpty, "\(interface.name).\(property.name)")
            }
            for signal in interface.signals {
                #expect(!signal.documentation.isEmpty, "\(interface.name).\(signal.name)")
            }
        }
    }

    @Test("without its access annotations no file is accepted")
    func accessIsNeeded() throws {
        for file in try Self.files() {
            let text = String(decoding: file.bytes, as: UTF8.self)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let bare = lines.filter { !$0.contains("org.example.Handoff.Access") }.joined(separator: "\n")
            #expect(throws: GenerationError.self, "\(file.path)") {
                try Interface(SourceFile(path: file.path, bytes: [UInt8](bare.utf8)))
            }
        }
    }

    @Test("each file is named after its interface")
    func fileNames() throws {
        for file in try Self.files() {
            #expect(try Interface(file).name + ".xml" == file.path)
        }
    }

    @Test("the same files give the same code")
    func deterministic() throws {
        let files = try Self.files()
        #expect(try Generator.swift(from: files) == Generator.swift(from: files))
    }
}

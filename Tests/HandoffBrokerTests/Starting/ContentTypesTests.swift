// SPDX-License-Identifier: LGPL-2.1-or-later
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("The kinds of files that applications open")
struct ContentTypesTests {
    @Test("programs and whatever may run one are told from documents, by what they are a kind of")
    func contentTypes() throws {
        let folder = try TemporaryDirectory()
        _ = try folder.write(
            "application/x-odd application/x-kind\napplication/x-kind application/x-executable\na/loop a/loop2\na/loop2 a/loop\n",
            to: "mime/subclasses")
        let types = ContentTypes(folders: [folder.path(""), "/nonexistent"])
        for type in [
            "application/x-odd", "application/x-desktop", "application/x-shellscript", "text/x-python",
        ] {
            #expect(types.isProgram(type))
        }
        for type in ["text/plain", "application/pdf", "image/png", "a/loop"] {
            #expect(!types.isProgram(type))
        }
        #expect(types.kinds(of: "text/x-notes") == ["text/x-notes", "text/plain"])
        #expect(types.kinds(of: "a/loop") == ["a/loop", "a/loop2"])
    }

    @Test("what is said to be a kind of very much is looked at no further, and counts as a program")
    func typeOfManyKinds() throws {
        let folder = try TemporaryDirectory()
        let lines = (0..<50_000).map { "a/many b/\($0)\n" }.joined()
        _ = try folder.write(lines, to: "mime/subclasses")
        let types = ContentTypes(folders: [folder.path("")])
        #expect(types.kinds(of: "a/many").count == 32)
        #expect(types.isProgram("a/many") && !types.isProgram("b/7"))
    }
}

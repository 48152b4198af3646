// SPDX-License-Identifier: LGPL-2.1-or-later
import ContactsModel
import Foundation
import MainLoop
import TestSupport
import Testing

struct ContactFileTests {
    let folder: TemporaryDirectory
    let file: ContactFile

    init() throws {
        folder = try TemporaryDirectory()
        file = ContactFile(path: folder.path("contacts.json"))
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
    }

    @Test("what was stored is there again, and without a file there is nothing")
    func storing() throws {
        #expect(try file.read().list.count == 0)
        let ada = contact("Zoë “\\”", [.note: "one\ntwo"])
        #expect(try file.change { $0.save(ada) }.list.contacts == [ada])
        let found = try ContactFile(path: file.path).read()
        #expect(found.list.contacts == [ada])
        #expect(found.setAside == nil)
        #expect(try names == ["contacts.json", "contacts.json.lock"])
        let rights = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(rights == 0o600)
    }

    @Test(
        "a damaged file is kept under another name, and told of once",
        arguments: [
            "", "{", "[]", "{\"version\":1}", "{\"version\":1,\"contacts\":[{}]}", "\u{0}",
            "{\"version\":1.5,\"contacts\":[]}",
        ])
    func damage(text: String) throws {
        try folder.write("older damage", to: "contacts.json.damaged-1")
        try folder.write(text, to: "contacts.json")
        let found = try file.read()
        #expect(found.list.count == 0)
        #expect(found.setAside == folder.path("contacts.json.damaged-2"))
        #expect(try String(contentsOfFile: folder.path("contacts.json.damaged-2"), encoding: .utf8) == text)
        #expect(
            try String(contentsOfFile: folder.path("contacts.json.damaged-1"), encoding: .utf8)
                == "older damage")
        #expect(try file.read().setAside == nil)
    }

    @Test("the file of a newer version is neither read nor changed")
    func newer() throws {
        let text = "{\"version\":2,\"contacts\":{}}"
        try folder.write(text, to: "contacts.json")
        #expect(throws: ContactFile.Failure.self) { try file.read() }
        let failure = #expect(throws: ContactFile.Failure.self) { try file.change { $0.save(Contact()) } }
        #expect(failure?.description.contains("newer version") == true)
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == text)
    }

    @Test("a link that the user has put there stays, and leads to the contacts")
    func link() throws {
        try folder.write("{\"version\":1,\"contacts\":[]}", to: "elsewhere/real.json")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("contacts.json"), withDestinationPath: folder.path("elsewhere/real.json"))
        let file = ContactFile(path: folder.path("contacts.json"))
        _ = try file.change { $0.save(contact("Ada")) }
        #expect(try ContactFile(path: folder.path("elsewhere/real.json")).read().list.count == 1)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("contacts.json")) != "")
    }

    @Test("a folder that can't be written to says so, and what is at the path of the file stays")
    func unwritable() throws {
        try FileManager.default.createDirectory(atPath: file.path, withIntermediateDirectories: false)
        let failure = #expect(throws: ContactFile.Failure.self) { try file.change { $0.save(Contact()) } }
        #expect(failure?.description.contains("not a regular file") == true)
    }

    @Test(
        "what was stored before a process was killed at any moment is there, and what it has left is removed")
    func killing() async throws {
        try await onLoop {
            var stored = 0
            for round in 0..<8 {
                let child = try ChildProcess([program("ContactsProgram"), file.path, "r\(round)-"])
                try await eventually { child.output.contains("r\(round)-3\n") }
                try await MainLoop.sleep(for: .microseconds(700 * round))
                child.send(signal: SIGKILL)
                _ = try await child.finished()
                let told = child.output.split(separator: "\n").map(String.init)
                let found = try file.read()
                #expect(found.setAside == nil)
                let there = Set(found.list.contacts.map(\.displayName))
                #expect(there.isSuperset(of: told))
                stored += told.count
                // One more may have been stored than was told.
                #expect((stored...stored + round + 1).contains(there.count))
                #expect(try names == ["contacts.json", "contacts.json.lock"])
            }
        }
    }

    @Test(
        "copies that the user has put beside the file stay, whatever they are called, and what a killed process has left goes"
    )
    func copies() throws {
        let copies = [
            "contacts.json.backup", "contacts.json.251122", "contacts.json.A1B2C3", "contacts.json.part-1",
        ]
        for name in copies + ["contacts.json.part", "contacts.json.part.A1B2C3"] {
            try folder.write("mine", to: name)
        }
        _ = try file.change { $0.save(contact("Ada")) }
        #expect(try names == (copies + ["contacts.json", "contacts.json.lock"]).sorted())
    }

    @Test("more than can be read again is not written, and what was there stays")
    func size() throws {
        let file = ContactFile(path: file.path, maximumSize: 1_000)
        let ada = contact("Ada")
        _ = try file.change { $0.save(ada) }
        let failure = #expect(throws: ContactFile.Failure.self) {
            try file.change { $0.save(contact("Zoë", [.note: String(repeating: "x", count: 1_000)])) }
        }
        #expect(failure?.description.contains("more than 1000. Shorten") == true)
        #expect(try file.read().list.contacts == [ada])
    }

    @Test("two processes that write at the same time lose nothing of each other")
    func two() async throws {
        try await onLoop {
            let one = try ChildProcess([program("ContactsProgram"), file.path, "a"])
            let other = try ChildProcess([program("ContactsProgram"), file.path, "b"])
            try await eventually { one.output.contains("a9\n") && other.output.contains("b9\n") }
            one.send(signal: SIGKILL)
            other.send(signal: SIGKILL)
            _ = try await one.finished()
            _ = try await other.finished()
            let told = (one.output + other.output).split(separator: "\n").map(String.init)
            let there = Set(try file.read().list.contacts.map(\.displayName))
            #expect(there.isSuperset(of: told))
        }
    }
}

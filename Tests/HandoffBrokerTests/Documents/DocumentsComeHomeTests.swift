// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Foundation
import HandoffCore
import HandoffInterfaces
import MainLoop
import Platform
import TestSupport
import Testing

@testable import HandoffBroker

// This file is long because each way that a document can come home, or be said to, is gone by itself.

@Suite("Documents that come again, and that come home", .serialized)
struct DocumentsComeHomeTests {
    /// A session whose peer has a text file, which it says is the document `id`.
    @MainLoop
    private final class Exchange {
        let session: TestSession
        var id: String?
        var text: String
        var name = "Letter.txt"

        init(_ text: String, id: DocumentID? = nil) async throws {
            (self.text, self.id) = (text, id?.description)
            session = try await TestSession.start(document: "text/plain")
            let offer = session.offer
            session.peer.onFetch = {
                FakePeer.activity(of: offer).merging([
                    "DocumentURL": .string("file:///home/other/Letter.txt"),
                    "DocumentType": .string("text/plain"),
                ]) { $1 }
            }
            session.peer.onOpenDocument = { [unowned self] in
                var document = FakeDocument(self.text, name: self.name)
                if let id = self.id { document.about["Document"] = .string(id) }
                return try document.send()
            }
        }

        /// Continues the activity.
        /// - Returns: what the application was handed of its document, and what the user was told.
        func `continue`(_ text: String? = nil) async throws -> (
            path: String, original: String?, message: String
        ) {
            if let text { self.text = text }
            try await session.continue()
            try await session.end()
            let activity = try #require(session.application.activities.last)
            #expect(session.outcomes.last == "")
            return (
                try #require(path(activity["DocumentURL"])), path(activity["OriginalURL"]),
                session.messages.last ?? ""
            )
        }

        private func path(_ url: Value?) -> String? {
            guard case .string(let text)? = url else { return nil }
            return URL(string: text)?.path
        }

        /// A document that is at home here, and was sent to the peer as `text`.
        func home(_ text: String, sent: String? = nil, named name: String = "Documents/Notes.txt") throws
            -> String
        {
            let path = session.folder.path(name)
            try FileManager.default.createDirectory(
                atPath: URL(filePath: path).deletingLastPathComponent().path,
                withIntermediateDirectories: true)
            try session.folder.write(text, to: name)
            let id = try #require(session.memory.id(at: path))
            session.memory.sent(id, mark(sent ?? text), to: session.peer.device)
            self.id = id.description
            return path
        }

        func mark(_ text: String) -> ContentMark {
            ContentMark(Digest.hexadecimal(Digest.sha256(Array(text.utf8))), size: UInt64(text.utf8.count))
        }

        func content(_ path: String) -> String? {
            FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
        }

        /// The names of the files in a folder of the session.
        func files(in folder: String = "Downloads/Handoff") -> [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: session.folder.path(folder))) ?? [])
                .sorted()
        }
    }

    private var someID: DocumentID {
        var generator = SystemRandomNumberGenerator()
        return DocumentID(using: &generator)
    }

    @Test(
        "the copy that came before is replaced if its user has not changed it, and used as it is if nothing has changed"
    )
    func again() async throws {
        try await onLoop {
            let exchange = try await Exchange("One", id: someID)
            let first = try await exchange.continue()
            #expect(try await exchange.continue("Two") == (first.path, nil, ""))
            #expect(exchange.content(first.path) == "Two" && exchange.files() == ["Letter.txt"])
            #expect(try await exchange.continue().path == first.path)
            #expect(exchange.files() == ["Letter.txt"])
        }
    }

    @Test(
        "a copy that its user has changed stays, what comes gets another name, and the user is told which is which"
    )
    func changedHere() async throws {
        try await onLoop {
            let exchange = try await Exchange("One", id: someID)
            let first = try await exchange.continue()
            try exchange.session.folder.write("Mine", to: "Downloads/Handoff/Letter.txt")
            let second = try await exchange.continue("Two")
            #expect(exchange.content(first.path) == "Mine" && exchange.content(second.path) == "Two")
            #expect(exchange.files() == ["Letter (2).txt", "Letter.txt"])
            #expect(
                second.message.contains("Letter.txt was changed here and on ")
                    && second.message.contains("Letter (2).txt"))
            // The one that came last is the copy from now on.
            #expect(try await exchange.continue("Three").path == second.path)
            #expect(exchange.content(second.path) == "Three" && exchange.content(first.path) == "Mine")
        }
    }

    @Test(
        "what its user has changed and sent back is not replaced by anything older, nor before it has come again"
    )
    func sentBack() async throws {
        try await onLoop {
            let id = someID
            let exchange = try await Exchange("One", id: id)
            let first = try await exchange.continue()
            try exchange.session.folder.write("Mine", to: "Downloads/Handoff/Letter.txt")
            #expect(exchange.session.memory.id(at: try #require(FoundPath.real(first.path))) == id)
            exchange.session.memory.sent(id, exchange.mark("Mine"), to: exchange.session.peer.device)
            for other in ["One", "One, changed there"] {
                let come = try await exchange.continue(other)
                #expect(come.path != first.path && exchange.content(first.path) == "Mine")
            }
            #expect(exchange.files() == ["Letter (2).txt", "Letter.txt"])
            // There it was taken over, and has been changed since.
            #expect(try await exchange.continue("Mine").path == first.path)
            #expect(try await exchange.continue("Mine, read").path == first.path)
            #expect(exchange.content(first.path) == "Mine, read")
        }
    }

    @Test(
        "a copy that is written to, has another name or must not be written to is not replaced",
        arguments: ["open", "linked", "read-only"])
    func inUse(_ how: String) async throws {
        try await onLoop {
            let exchange = try await Exchange("One", id: someID)
            let first = try await exchange.continue()
            var file: Int32 = -1
            switch how {
            case "open": file = open(first.path, O_WRONLY)
            case "linked": link(first.path, exchange.session.folder.path("other"))
            default: chmod(first.path, 0o400)
            }
            let second = try await exchange.continue("Two")
            #expect(second.path != first.path && exchange.content(first.path) == "One")
            close(file)
        }
    }

    @Test("a document that comes home as it went is the original")
    func unchanged() async throws {
        try await onLoop {
            let exchange = try await Exchange("Notes")
            let path = try exchange.home("Notes")
            #expect(try await exchange.continue() == (path, nil, ""))
            #expect(exchange.files() == [] && exchange.files(in: "Documents") == ["Notes.txt"])
        }
    }

    @Test("one that comes home changed is beside its original, which stays as it is, and both are named")
    func changedThere() async throws {
        try await onLoop {
            let exchange = try await Exchange("Notes, read")
            let path = try exchange.home("Notes")
            let name = "Desk"
            let come = try await exchange.continue()
            #expect(come.path == exchange.session.folder.path("Downloads/Handoff/Notes (\(name)).txt"))
            #expect(come.original == path && exchange.content(path) == "Notes")
            #expect(
                exchange.content(come.path) == "Notes, read"
                    && exchange.files(in: "Documents") == ["Notes.txt"])
            #expect(
                come.message.hasPrefix("Notes.txt was changed on \(name).")
                    && come.message.contains(URL(filePath: come.path).lastPathComponent))
            // What has changed once more takes its place.
            #expect(try await exchange.continue("Notes, read twice").path == come.path)
            // The user has taken it over: what comes next has changed from that.
            exchange.text = "Notes, read"
            _ = try await exchange.continue()
            try exchange.session.folder.write("Notes, read", to: "Documents/Notes.txt")
            #expect(try await exchange.continue("Notes, read again").original == path)
        }
    }

    @Test(
        "an application that has taken the change over into the original takes the copy away, and nothing is told"
    )
    func taken() async throws {
        try await onLoop {
            let exchange = try await Exchange("Notes, read")
            let path = try exchange.home("Notes")
            exchange.session.application.onContinue = {
                for name in exchange.files() {
                    unlink(exchange.session.folder.path("Downloads/Handoff/\(name)"))
                }
                return true
            }
            let come = try await exchange.continue()
            #expect(come.original == path && come.message.isEmpty)
            #expect(exchange.files().isEmpty)
        }
    }

    @Test("if both have changed, nobody is told to take one for the other, and the user knows")
    func changedBoth() async throws {
        try await onLoop {
            let exchange = try await Exchange("Notes, read")
            let path = try exchange.home("Notes, mine", sent: "Notes")
            let come = try await exchange.continue()
            #expect(come.original == nil && come.path != path && exchange.content(path) == "Notes, mine")
            #expect(come.message.contains("changed here and on "))
        }
    }

    @Test(
        "where the original is not what was handed off, the document is as one without an id",
        arguments: [
            "gone", "link", "linked folder", "pipe", "folder", "writable by all", "of a copy from elsewhere",
            "false",
        ])
    func elsewhere(_ how: String) async throws {
        try await onLoop {
            let exchange = try await Exchange("Notes, read")
            let path = try exchange.home("Notes")
            let files = FileManager.default
            let folder = exchange.session.folder
            switch how {
            case "gone": unlink(path)
            case "link":
                try files.moveItem(atPath: path, toPath: folder.path("Moved.txt"))
                symlink(folder.path("Moved.txt"), path)
            case "linked folder":
                try files.moveItem(atPath: folder.path("Documents"), toPath: folder.path("Moved"))
                symlink(folder.path("Moved"), folder.path("Documents"))
            case "pipe":
                unlink(path)
                mkfifo(path, 0o600)
            case "folder":
                unlink(path)
                mkdir(path, 0o700)
            case "writable by all": chmod(folder.path("Documents"), 0o777)
            case "of a copy from elsewhere":
                exchange.id = someID.description
                let placed = try #require(KnownFile(at: path, [5])).placed
                let id = try #require(exchange.id.flatMap { DocumentID($0) })
                exchange.session.memory.came(id, from: try Sample.device(7), placed)
            default: exchange.id = someID.description
            }
            let come = try await exchange.continue()
            #expect(come == (folder.path("Downloads/Handoff/Letter.txt"), nil, ""))
            #expect(how != "of a copy from elsewhere" || exchange.content(path) == "Notes")
        }
    }

    @Test("a file of the user's does not become a copy because its name and content are those of what comes")
    func notOurs() async throws {
        try await onLoop {
            let exchange = try await Exchange("Mine", id: someID)
            try FileManager.default.createDirectory(
                atPath: exchange.session.folder.path("Downloads/Handoff"), withIntermediateDirectories: true)
            let mine = try exchange.session.folder.write("Mine", to: "Downloads/Handoff/Letter.txt")
            #expect(try await exchange.continue().path == mine)
            #expect(try await exchange.continue("Evil").path != mine && exchange.content(mine) == "Mine")
            // Nor does what lies where something would go beside an original.
            let home = try exchange.home("Notes")
            let other = try exchange.session.folder.write("Old", to: "Downloads/Handoff/Notes (Desk).txt")
            for text in ["Old", "Old", "Evil"] {
                let come = try await exchange.continue(text)
                #expect(come.original == nil || come.path != other)
            }
            #expect(exchange.content(other) == "Old" && exchange.content(home) == "Notes")
        }
    }

    @Test("a peer that sends the user's own work back gets neither that nor what is beside it removed")
    func echo() async throws {
        try await onLoop {
            let exchange = try await Exchange("One", id: someID)
            let first = try await exchange.continue()
            try exchange.session.folder.write("Hours of work", to: "Downloads/Handoff/Letter.txt")
            #expect(try await exchange.continue("Hours of work").path == first.path)
            #expect(try await exchange.continue("Evil").message.contains("in the trash"))
            // It is in the trash, or beside, where there is none.
            let kept = exchange.files().map {
                exchange.content(exchange.session.folder.path("Downloads/Handoff/\($0)"))
            }
            let trash = "\(UserDirectories.home)/.local/share/Trash/files"
            let trashed = ((try? FileManager.default.contentsOfDirectory(atPath: trash)) ?? []).filter {
                exchange.content("\(trash)/\($0)") == "Hours of work"
            }
            #expect(kept.contains("Hours of work") || !trashed.isEmpty)
            for name in trashed {
                unlink("\(trash)/\(name)")
                unlink("\(trash)/../info/\(name).trashinfo")
            }
            // What is beside an original, and the user goes on in, is not an editor's to remove.
            let home = try exchange.home("Notes")
            let beside = try await exchange.continue("Notes, read")
            #expect(beside.original == home)
            #expect(exchange.content(beside.path) == "Notes, read")
            try Data("My work".utf8).write(to: URL(filePath: beside.path))
            for text in ["My work", "My work"] { #expect(try await exchange.continue(text).original == nil) }
            #expect(try await exchange.continue("Evil").path != beside.path)
            #expect(exchange.content(beside.path) == "My work")
        }
    }

    @Test("a document of another name replaces nothing, and an id of another device's document means nothing")
    func otherName() async throws {
        try await onLoop {
            let id = someID
            let exchange = try await Exchange("One", id: id)
            let first = try await exchange.continue()
            exchange.name = "Holiday.jpg"
            let second = try await exchange.continue("Evil")
            #expect(second.path.hasSuffix("/Holiday.jpg") && exchange.content(first.path) == "One")
            let memory = exchange.session.memory
            let known = memory.known(id, from: exchange.session.peer.device)
            memory.came(id, from: try Sample.device(7), try #require(KnownFile(at: second.path, [])).placed)
            #expect(memory.known(id, from: exchange.session.peer.device) == known)
        }
    }

    @Test("an original of another size is not read")
    func sparse() async throws {
        try await onLoop {
            let exchange = try await Exchange("Notes, read")
            let path = try exchange.home("Notes")
            truncate(path, 1 << 40)
            let come = try await exchange.continue()
            #expect(come.original == nil && come.message.contains("was changed here and on"))
        }
    }

    @Test("a file that is written to while it is being replaced keeps its place")
    func race() async throws {
        try await onLoop {
            let exchange = try await Exchange("One")
            let path = try exchange.home("One", named: "Downloads/Handoff/Letter.txt")
            let mine = try #require(KnownFile(at: path, [3]))
            let file = try PartialFile(
                in: try ReceivedFolder(at: exchange.session.folder.path("Downloads/Handoff")), size: 3)
            try Array("Two".utf8).withUnsafeBytes { try file.write($0) }
            try exchange.session.folder.write("Mine", to: "Downloads/Handoff/Letter.txt")
            #expect(file.replace(mine, isWork: false) == nil)
            #expect(exchange.content(path) == "Mine")
        }
    }
}

/// Where a file really is.
private enum FoundPath {
    static func real(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Foundation
import HandoffCore
import HandoffInterfaces
import HandoffSession
import MainLoop
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("Continuing an activity that has a document", .serialized)
struct ContinuationDocumentTests {
    /// A session whose peer offers an activity with a document, which it sends as `document` says.
    @MainLoop
    private func session(_ document: @escaping @MainLoop () -> FakeDocument) async throws -> TestSession {
        let session = try await TestSession.start(document: "text/plain")
        let offer = session.offer
        session.peer.onFetch = { Self.activity(offer) }
        session.peer.onOpenDocument = { try document().send() }
        return session
    }

    @MainLoop
    private static func activity(_ offer: Offer) -> [String: Value] {
        FakePeer.activity(of: offer).merging([
            "DocumentURL": .string("file:///home/other/Letter.txt"), "DocumentType": .string("text/plain"),
        ]) { $1 }
    }

    /// The documents that have been placed.
    @MainLoop
    private func files(_ session: TestSession) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: session.folder.path("Downloads/Handoff")))
            ?? []).sorted()
    }

    @Test("the application is handed the URL of a file of this machine, never the origin's")
    func delivered() async throws {
        try await onLoop {
            let session = try await session { FakeDocument("Dear", name: "Brief an Jürgen #1.txt") }
            try await session.continue()
            try await session.end()
            #expect(session.outcomes == [""] && session.application.events == ["will", "continue"])
            let url = try #require(session.application.activities.first?["DocumentURL"])
            let path = session.folder.path("Downloads/Handoff/Brief an Jürgen #1.txt")
            #expect(
                url
                    == .string(
                        "file://"
                            + session.folder.path("Downloads/Handoff/Brief%20an%20J%C3%BCrgen%20%231.txt")))
            #expect(FileManager.default.contents(atPath: path) == Data("Dear".utf8))
            try await eventually {
                session.peer.events == ["fetch", "openDocument", "continued", "release"]
            }
        }
    }

    @Test(
        "what was about to begin when the user cancelled never begins, and the next document is brought over")
    func cancelledBeforeItBegan() async throws {
        try await onLoop {
            let session = try await session { FakeDocument("Dear") }
            let (offer, gate) = (session.offer, Awaited<Void>())
            session.peer.onFetch = {
                _ = await gate.value(within: nil)
                return Self.activity(offer)
            }
            try await session.continue()
            try await eventually {
                session.peer.events == ["fetch"] && session.application.events == ["will"]
            }
            let runner = try #require(session.runner)
            // The broker has just been told what is to be brought over, and does it at the next opportunity.
            runner.perform(
                runner.machine.fetched(Continuation.Fetched(offer: offer, document: .remote), at: .now))
            runner.perform(try runner.cancel())
            gate.come(())
            try await session.end()
            try await session.continue()
            try await session.end()
            #expect(session.outcomes == ["org.example.Handoff.Error.Cancelled", ""])
            try await eventually {
                session.peer.events == ["fetch", "release", "fetch", "openDocument", "continued", "release"]
            }
        }
    }

    @Test("a document that does not come is a failure: the application is told, and nothing is left")
    func failing() async throws {
        try await onLoop {
            let session = try await session {
                var document = FakeDocument("Dear")
                document.sent = 3
                return document
            }
            try await session.continue()
            try await session.end()
            let name = "org.example.Handoff.Error.ConnectionUnavailable"
            #expect(session.outcomes == [name] && files(session).isEmpty)
            try await eventually { session.application.events == ["will", "failed \(name)"] }
        }
    }

    @Test("what the origin says about its document breaks a rule: that is told, by the rule")
    func badDescription() async throws {
        try await onLoop {
            let session = try await session {
                var document = FakeDocument("Dear")
                document.about["Size"] = .string("much")
                return document
            }
            try await session.continue()
            try await session.end()
            #expect(session.outcomes == ["org.freedesktop.DBus.Error.InvalidArgs"])
            #expect(session.messages.first?.contains("Size") == true)
        }
    }

    @Test("switched off while the document comes: the stream breaks, and nothing is left")
    func disabled() async throws {
        try await onLoop {
            var end: FakeDocumentEnd?
            let session = try await session { FakeDocument("Dear") }
            session.peer.onOpenDocument = {
                var document = FakeDocument([UInt8](repeating: 7, count: 1000))
                (document.sent, document.ends) = (500, false)
                return try document.send { end = $0 }
            }
            try await session.continue()
            try await eventually { files(session).count == 1 }
            session.runner?.stop(.disabled)
            try await session.end()
            try await eventually { files(session).isEmpty && end?.ending != nil }
            #expect(session.outcomes == ["org.example.Handoff.Error.Disabled"])
        }
    }

    @Test("there is no deadline while bytes come; fifteen seconds without any are a failure")
    func silence() async throws {
        try await onLoop {
            var end: FakeDocumentEnd?
            let session = try await session { FakeDocument("Dear") }
            let document = FakeDocument([UInt8](repeating: 7, count: 1000))
            session.peer.onOpenDocument = {
                var document = document
                (document.sent, document.ends) = (500, false)
                return try document.send { end = $0 }
            }
            try await session.continue()
            try await eventually { files(session).count == 1 }
            session.pass(Deadline.documentSilence / 2)
            #expect(session.runner?.isRunning == true)
            try await letPass(.milliseconds(150))
            end?.send([7], ends: false)
            let before = session.runner?.machine.nextDeadline
            try await eventually { session.runner?.machine.nextDeadline != before }
            session.pass(Deadline.documentSilence)
            try await session.end()
            try await eventually { files(session).isEmpty }
            #expect(session.outcomes == ["org.example.Handoff.Error.ConnectionUnavailable"])
        }
    }

    /// Continues until all of `document` is here but for its end, which has as long to come as bytes have. The
    /// application is given a second to answer, which is not long enough to hold a continuation back.
    @MainLoop
    private func continueUpToTheEnd(
        _ session: TestSession, _ document: FakeDocument
    ) async throws -> FakeDocumentEnd {
        var end: FakeDocumentEnd?
        var document = document
        document.ends = false
        session.peer.onOpenDocument = { [document] in try document.send { end = $0 } }
        try await session.continue()
        try await eventually {
            end?.hasSent == true && files(session).count == 1
                && session.application.events == ["will"]
        }
        return try #require(end)
    }

    @Test("an activity that has changed by the time it is needed is fetched again, and its document with it")
    func revised() async throws {
        try await onLoop {
            let session = try await session { FakeDocument("first") }
            let end = try await continueUpToTheEnd(session, FakeDocument("first"))
            session.peer.onOpenDocument = { try FakeDocument("second").send() }
            let newer = try Sample.offer(title: "Newer", document: "text/plain", revision: 2)
            session.peer.onFetch = { Self.activity(newer) }
            try await session.peer.offer(newer)
            end.send([], ends: true)
            try await session.end()
            #expect(session.outcomes == [""], "\(session.messages)")
            #expect(session.peer.count("openDocument") == 2)
            #expect(files(session) == ["Letter.txt"])
            let placed = session.folder.path("Downloads/Handoff/Letter.txt")
            #expect(FileManager.default.contents(atPath: placed) == Data("second".utf8))
            #expect(session.application.activities.first?["DocumentURL"] == .string("file://" + placed))
        }
    }

    @Test("a document that has not changed is not brought over again with an activity that has")
    func unchanged() async throws {
        try await onLoop {
            let session = try await session { FakeDocument("Dear") }
            let known: [String: Value] = [
                "DocumentSize": .uint64(4), "DocumentModified": .int64(1_600_000_000_000_000),
            ]
            let offer = session.offer
            session.peer.onFetch = { Self.activity(offer).merging(known) { $1 } }
            let end = try await continueUpToTheEnd(session, FakeDocument("Dear"))
            let newer = try Sample.offer(title: "Newer", document: "text/plain", revision: 2)
            session.peer.onFetch = { Self.activity(newer).merging(known) { $1 } }
            try await session.peer.offer(newer)
            end.send([], ends: true)
            try await session.end()
            #expect(session.outcomes == [""], "\(session.messages)")
            #expect(session.peer.count("openDocument") == 1)
            let activity = try #require(session.application.activities.first)
            #expect(activity["Title"] == .string("Newer") && activity["DocumentURL"] != nil)
        }
    }

    /// A session whose peer's document, of four bytes, is in a folder that both share; it is `Cloud/Letter.txt` here.
    @MainLoop
    private func sharing() async throws -> TestSession {
        let session = try await TestSession.start(document: "text/plain", shared: "Cloud")
        let offer = session.offer
        let more: [String: Value] = [
            "SharedFolders": try .dictionary(
                key: "s", value: "s", [(.string("Cloud"), .string("file:///home/other"))]),
            "DocumentSize": .uint64(4),
            "DocumentModified": .int64(1_600_000_000_000_000),
        ]
        session.peer.onFetch = { Self.activity(offer).merging(more) { $1 } }
        session.peer.onOpenDocument = { try FakeDocument("brought").send() }
        return session
    }

    @MainLoop
    private func url(_ session: TestSession) -> Value? {
        session.application.activities.first?["DocumentURL"]
    }

    @Test("a document that has been synchronised already is where it is: nothing is brought over")
    func synchronised() async throws {
        try await onLoop {
            let session = try await sharing()
            let path = try session.folder.write("Dear", to: "Cloud/Letter.txt")
            try await session.continue()
            try await session.end()
            #expect(session.outcomes == [""])
            try await eventually { session.peer.events == ["fetch", "continued", "release"] }
            #expect(url(session) == .string("file://" + path))
        }
    }

    @Test("one that has not is waited for, and delivered as soon as it is there")
    func awaited() async throws {
        try await onLoop {
            let session = try await sharing()
            try await session.continue()
            try await eventually { session.runner?.documentFile.awaiting != nil }
            session.pass(Deadline.synchronisation / 2)
            #expect(session.outcomes == [] && session.peer.events == ["fetch"])
            let path = try session.folder.write("Dear", to: "Cloud/Letter.txt")
            try await session.end()
            #expect(session.outcomes == [""] && session.peer.count("openDocument") == 0)
            #expect(url(session) == .string("file://" + path))
        }
    }

    @Test("one that does not come within sixty seconds is brought over")
    func notSynchronised() async throws {
        try await onLoop {
            let session = try await sharing()
            try await session.continue()
            try await eventually { session.runner?.documentFile.awaiting != nil }
            session.pass(Deadline.synchronisation)
            try await session.end()
            #expect(session.outcomes == [""] && session.peer.count("openDocument") == 1)
            #expect(url(session) == .string("file://" + session.folder.path("Downloads/Handoff/Letter.txt")))
        }
    }

    @Test("an older state that is there already is not the document")
    func older() async throws {
        try await onLoop {
            let session = try await sharing()
            let path = try session.folder.write("old", to: "Cloud/Letter.txt")
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_500_000_000)], ofItemAtPath: path)
            try await session.continue()
            try await eventually { session.runner?.documentFile.awaiting != nil }
            try session.folder.write("Dear", to: "Cloud/Letter.txt")
            try await session.end()
            #expect(session.outcomes == [""] && url(session) == .string("file://" + path))
        }
    }
}

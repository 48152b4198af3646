// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Foundation
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffBroker

/// Receives `document` in a folder of its own, and says what became of it.
@MainLoop
private final class Receiver {
    let folder: TemporaryDirectory
    var outcome: Result<PlacedDocument, HandoffFailure>?
    private(set) var reports: [UInt64] = []
    private(set) var end: FakeDocumentEnd?
    private var receiving: DocumentReceiving?

    init(_ folder: TemporaryDirectory? = nil) throws { self.folder = try folder ?? TemporaryDirectory() }

    func start(_ document: FakeDocument, replacing former: PlacedDocument? = nil) throws {
        let reply = try document.send { end = $0 }
        let about = try DocumentDescription(reply.about)
        receiving = try DocumentReceiving(
            about, from: reply.stream, to: folder.path("Handoff"), replacing: former, known: nil,
            sender: "desk"
        ) { [weak self] event in
            switch event {
            case .received(let count): self?.reports.append(count)
            case .placed(let placed): self?.outcome = .success(placed)
            case .failed(let failure): self?.outcome = .failure(failure)
            }
        }
    }

    func receive(_ document: FakeDocument, replacing former: PlacedDocument? = nil) async throws {
        outcome = nil
        try start(document, replacing: former)
        try await eventually { outcome != nil }
        // Whoever has the outcome needs it no longer.
        receiving = nil
    }

    func cancel() {
        receiving?.cancel()
        receiving = nil
    }

    var placed: PlacedDocument? { try? outcome?.get() }
    var failure: HandoffFailure? {
        if case .failure(let failure) = outcome { failure } else { nil }
    }

    /// What there is in the folder, hidden files too.
    var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path("Handoff"))) ?? []).sorted()
    }

    func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: folder.path("Handoff/\(name)")).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}

@Suite("Receiving a document", .serialized)
struct DocumentReceivingTests {
    @Test(
        "what arrives is placed under its own name, for the user alone and not executable, with its modification time"
    )
    func placed() async throws {
        try await onLoop {
            let receiver = try Receiver()
            try await receiver.receive(FakeDocument("Dear", modified: 1_600_000_000_123_456))
            #expect(receiver.files == ["Letter.txt"] && receiver.text("Letter.txt") == "Dear")
            let attributes = try FileManager.default.attributesOfItem(
                atPath: receiver.folder.path("Handoff/Letter.txt"))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let modified = try #require(attributes[.modificationDate] as? Date)
            #expect(abs(modified.timeIntervalSince1970 - 1_600_000_000.123456) < 0.001)
            let folder = try FileManager.default.attributesOfItem(atPath: receiver.folder.path("Handoff"))
            #expect(folder[.posixPermissions] as? Int == 0o700)
            #expect(receiver.end?.ending == "acknowledged")
        }
    }

    @Test("nothing is overwritten: the second of a name has a number")
    func numbered() async throws {
        try await onLoop {
            let receiver = try Receiver()
            for text in ["one", "two", "three"] { try await receiver.receive(FakeDocument(text)) }
            #expect(receiver.files == ["Letter (2).txt", "Letter (3).txt", "Letter.txt"])
            #expect(receiver.text("Letter.txt") == "one" && receiver.text("Letter (3).txt") == "three")
        }
    }

    @Test(
        "what is there already, unchanged, is not placed again, and stays whatever becomes of the continuation"
    )
    func known() async throws {
        try await onLoop {
            let receiver = try Receiver()
            for text in ["one", "two"] { try await receiver.receive(FakeDocument(text)) }
            try await receiver.receive(FakeDocument("two"))
            let placed = try #require(receiver.placed)
            #expect(placed.name == "Letter (2).txt" && receiver.end?.ending == "acknowledged")
            #expect(receiver.files == ["Letter (2).txt", "Letter.txt"])
            // What is brought over anew takes the place of what was brought over before, but not of this.
            try await receiver.receive(FakeDocument("three"), replacing: placed)
            #expect(receiver.files == ["Letter (2).txt", "Letter (3).txt", "Letter.txt"])
            let former = try #require(receiver.placed)
            try await receiver.receive(FakeDocument("four"), replacing: former)
            #expect(receiver.text("Letter (3).txt") == "four" && receiver.text("Letter (2).txt") == "two")
        }
    }

    @Test("a link, a folder or a pipe that has the name stays, and is not followed")
    func occupied() async throws {
        try await onLoop {
            let receiver = try Receiver()
            let victim = try receiver.folder.write("mine", to: "victim")
            try receiver.folder.write("", to: "Handoff/Letter (2).txt/x")
            try FileManager.default.createSymbolicLink(
                atPath: receiver.folder.path("Handoff/Letter.txt"), withDestinationPath: victim)
            mkfifo(receiver.folder.path("Handoff/Letter (3).txt"), 0o600)
            try await receiver.receive(FakeDocument("theirs"))
            #expect(receiver.placed?.name == "Letter (4).txt" && receiver.text("Letter (4).txt") == "theirs")
            #expect(FileManager.default.contents(atPath: victim) == Data("mine".utf8))
        }
    }

    @Test("a document of no bytes, one of many, and one whose size is not known, arrive as they are")
    func sizes() async throws {
        // Made here: while the loop makes them, other tests do not hear from one another.
        let contents = [0, 1, 31, 32, 33, 5_000_000].map { size in
            (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        }
        try await onLoop {
            for bytes in contents {
                for isKnown in [true, false] {
                    let receiver = try Receiver()
                    var document = FakeDocument(bytes)
                    if !isKnown { document.about["Size"] = nil }
                    try await receiver.receive(document)
                    #expect(receiver.failure == nil)
                    #expect(FileManager.default.contents(atPath: receiver.placed?.path ?? "") == Data(bytes))
                    #expect(receiver.end?.ending == "acknowledged")
                }
            }
        }
    }

    @Test("a document that is too long, too short, cut off or changed leaves nothing, and breaks the stream")
    func wrong() async throws {
        try await onLoop {
            var bad: [FakeDocument] = []
            for isKnown in [true, false] {
                for change: (inout FakeDocument) -> Void in [
                    { $0.checksum = [UInt8](repeating: 0, count: 32) }, { $0.sent = 2 }, { $0.sent = 0 },
                    { $0.sent = 20 },
                    { $0.bytes += [1] }, { $0.sent = $0.content.count - 1 },
                    { $0.checksum = [UInt8](repeating: 0, count: 100) },
                ] {
                    var document = FakeDocument("Dear reader, this is the document.")
                    if !isKnown { document.about["Size"] = nil }
                    change(&document)
                    // Without a size, one more byte is a longer document.
                    if isKnown || document.bytes.last != 1 { bad.append(document) }
                }
            }
            for document in bad {
                let receiver = try Receiver()
                try await receiver.receive(document)
                #expect(receiver.failure?.code == .connectionUnavailable && receiver.files == [])
                let end = receiver.end
                try await eventually { end?.ending != nil }
                // Where nothing came, nothing can be acknowledged.
                #expect(end?.ending == "broken" || document.sent == 0)
            }
        }
    }

    @Test("times that cannot be are the time of arrival")
    func times() {
        let now: Int64 = 1_700_000_000_000_000
        for time in [nil, 0, -5, now + 25 * 3_600_000_000, .max, .min] {
            #expect(DocumentReceiving.plausible(time, now: now) == nil)
        }
        for time in [1, now, now + 3_600_000_000] {
            #expect(DocumentReceiving.plausible(time, now: now) == time)
        }
    }

    @Test("while it comes, nothing has its name, and progress is told at most every 100 ms")
    func progress() async throws {
        try await onLoop {
            let receiver = try Receiver()
            var document = FakeDocument([UInt8](repeating: 7, count: 300_000))
            (document.sent, document.ends) = (200_000, false)
            try receiver.start(document)
            let begin = MainLoop.now
            try await eventually { receiver.files.count == 1 }
            #expect(receiver.files.allSatisfy { PartialFile.isOurs($0) && $0.hasPrefix(".") })
            try await letPass(.milliseconds(250))
            let rest = Array(FakeDocument([UInt8](repeating: 7, count: 300_000)).content.dropFirst(200_000))
            for byte in rest.prefix(100) {
                receiver.end?.send([byte], ends: false)
                try await MainLoop.sleep(for: .milliseconds(3))
            }
            receiver.end?.send(Array(rest.dropFirst(100)), ends: true)
            try await eventually { receiver.outcome != nil }
            let most = Int((MainLoop.now - begin) / 100_000) + 1
            #expect(!receiver.reports.isEmpty && receiver.reports.count <= most)
            #expect(receiver.files == ["Letter.txt"])
        }
    }

    @Test("once it is no longer wanted, the stream breaks, nothing is left, and nothing more is told")
    func cancelled() async throws {
        try await onLoop {
            let receiver = try Receiver()
            var document = FakeDocument([UInt8](repeating: 7, count: 300_000))
            (document.sent, document.ends) = (200_000, false)
            try receiver.start(document)
            // A sender that is stopped while it sends would be told of the break, and nobody after it.
            try await eventually { receiver.files.count == 1 && receiver.end?.hasSent == true }
            receiver.cancel()
            try await eventually { receiver.files.isEmpty && receiver.end?.ending != nil }
            try await letPass(.milliseconds(50))
            #expect(receiver.outcome == nil && receiver.end?.ending == "broken")
        }
    }

    @Test(
        "one that was placed and acknowledged, but is no longer wanted by the time that this is told, goes too"
    )
    func cancelledTooLate() async throws {
        try await onLoop {
            let receiver = try Receiver()
            try receiver.start(FakeDocument("Dear"))
            // The main loop is kept busy here, so that nothing is told meanwhile.
            let end = MainLoop.now + 20_000_000
            while receiver.end?.ending == nil, MainLoop.now < end { usleep(1000) }
            #expect(receiver.files == ["Letter.txt"] && receiver.end?.ending == "acknowledged")
            receiver.cancel()
            try await eventually { receiver.files.isEmpty }
            #expect(receiver.outcome == nil)
        }
    }

    @Test("a document that says it is larger than the disk is refused at once, with both sizes")
    func tooLarge() async throws {
        try await onLoop {
            for size: UInt64 in [10_000_000_000_000_000, .max] {
                let receiver = try Receiver()
                var document = FakeDocument("x")
                document.about["Size"] = .uint64(size)
                try await receiver.receive(document)
                let failure = try #require(receiver.failure)
                #expect(
                    failure.code == .limitsExceeded && failure.message.contains("GB") && receiver.files == [])
                #expect(failure.message.contains("room for"))
            }
        }
    }

    @Test("the folder must be the user's own, and no link")
    func folder() async throws {
        try await onLoop {
            let (receiver, elsewhere) = (try Receiver(), try TemporaryDirectory())
            try FileManager.default.createSymbolicLink(
                atPath: receiver.folder.path("Handoff"), withDestinationPath: elsewhere.path(""))
            try await receiver.receive(FakeDocument("x"))
            #expect(receiver.failure?.code == .accessDenied)
            #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path("")).isEmpty)

            let open = try Receiver()
            mkdir(open.folder.path("Handoff"), 0o777)
            chmod(open.folder.path("Handoff"), 0o777)
            try await open.receive(FakeDocument("x"))
            #expect(open.failure?.code == .accessDenied && open.files == [])

            let file = try Receiver()
            try file.folder.write("", to: "Handoff")
            try await file.receive(FakeDocument("x"))
            #expect(file.failure?.message.contains("is not a folder") == true)
        }
    }

    @Test("what a killed broker has left is removed; what is being written, and what is not ours, stays")
    func abandoned() async throws {
        try await onLoop {
            let receiver = try Receiver()
            var document = FakeDocument([UInt8](repeating: 7, count: 1000))
            (document.sent, document.ends) = (500, false)
            try receiver.start(document)
            // What has been written to has been locked before.
            try await eventually {
                receiver.files.first.flatMap {
                    FileManager.default.contents(atPath: receiver.folder.path("Handoff/\($0)"))
                }?.isEmpty == false
            }
            let living = receiver.files
            let names = [".handoff-0123456789abcdef0123456789abcdef.part", ".handoff-x.part", "x.part"]
            for name in names { try receiver.folder.write("", to: "Handoff/\(name)") }
            let documents = ReceivedDocuments(in: receiver.folder.path(""))
            documents.removeAbandoned()
            try await eventually { !receiver.files.contains(names[0]) }
            #expect(Set(receiver.files) == Set(living + names[1...]))
            receiver.cancel()
        }
    }

    @Test("a newer state of the same document takes the place of the former, unless that has been touched")
    func replacing() async throws {
        try await onLoop {
            let receiver = try Receiver()
            try await receiver.receive(FakeDocument("first"))
            try await receiver.receive(FakeDocument("second"), replacing: receiver.placed)
            #expect(receiver.files == ["Letter.txt"] && receiver.text("Letter.txt") == "second")
            try receiver.folder.write("touched", to: "Handoff/Letter.txt")
            try await receiver.receive(FakeDocument("third"), replacing: receiver.placed)
            #expect(receiver.text("Letter.txt") == "touched" && receiver.text("Letter (2).txt") == "third")
        }
    }
}

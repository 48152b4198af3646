// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import HandoffCore
import MainLoop
import TestSupport
import Testing

@testable import HandoffBroker

/// Waits for `shared/a/b/Letter.txt` in a folder of its own, and says what became of that.
@MainLoop
private final class Waiter {
    let folder: TemporaryDirectory
    private(set) var events: [String] = []
    private var awaiting: DocumentAwaiting?

    init() throws { folder = try TemporaryDirectory() }

    var path: String { folder.path("shared/a/b/Letter.txt") }
    var shared: String { folder.path("shared") }

    func start(_ document: FetchedDocument) throws {
        awaiting = try DocumentAwaiting(document, at: path) { [weak self] event in
            switch event {
            case .grown(let size): self?.events.append("grown \(size)")
            case .arrived: self?.events.append("arrived")
            case .failed: self?.events.append("failed")
            }
        }
    }

    func stop() {
        awaiting?.cancel()
        awaiting = nil
    }
}

@Suite("Waiting for a document in a shared folder", .serialized)
struct DocumentAwaitingTests {
    private static let modified: Int64 = 1_600_000_000_000_000

    private static func setModified(_ path: String, _ microseconds: Int64) throws {
        let date = Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }

    @Test(
        "it is noticed when it comes, also in folders that are made for it, by the name that it gets at the end"
    )
    func folders() async throws {
        try await onLoop {
            let waiter = try Waiter()
            try waiter.start(FetchedDocument(sharedFolder: waiter.shared, size: 4, modified: Self.modified))
            try await letPass(.milliseconds(30))
            let part = try waiter.folder.write("Dear", to: "shared/a/b/.Letter.txt.tmp")
            try await letPass(.milliseconds(150))
            #expect(waiter.events == [])
            try Self.setModified(part, Self.modified)
            try FileManager.default.moveItem(atPath: part, toPath: waiter.path)
            try await eventually { waiter.events == ["arrived"] }
        }
    }

    @Test("an older one, a part, a link and a folder are not it")
    func others() async throws {
        try await onLoop {
            let waiter = try Waiter()
            let manager = FileManager.default
            try waiter.folder.write("Dear", to: "elsewhere")
            try waiter.folder.write("", to: "shared/a/b/x")
            try manager.createSymbolicLink(
                atPath: waiter.path, withDestinationPath: waiter.folder.path("elsewhere"))
            try waiter.start(FetchedDocument(sharedFolder: waiter.shared, size: 4))
            try await letPass(.milliseconds(150))
            try manager.removeItem(atPath: waiter.path)
            try waiter.folder.write("", to: "shared/a/b/Letter.txt/x")
            try await letPass(.milliseconds(150))
            #expect(waiter.events == [])
            try manager.removeItem(atPath: waiter.path)
            try waiter.folder.write("De", to: "shared/a/b/Letter.txt")
            try await eventually { waiter.events.last == "grown 2" }
            try waiter.folder.write("Dear", to: "shared/a/b/Letter.txt")
            try await eventually { waiter.events.last == "arrived" }
        }
    }

    @Test(
        "what a link leads to out of the shared folder is not it; a link to another place in it is followed")
    func linkedFolders() async throws {
        try await onLoop {
            let waiter = try Waiter()
            let manager = FileManager.default
            try waiter.folder.write("Dear", to: "elsewhere/Letter.txt")
            try waiter.folder.write("Dear", to: "shared/c/Letter.txt")
            try waiter.folder.write("", to: "shared/a/x")
            let document = FetchedDocument(sharedFolder: waiter.shared, size: 4)
            let place = waiter.folder.path("shared/a/b")
            try manager.createSymbolicLink(atPath: place, withDestinationPath: "../../elsewhere")
            #expect(CopyLook.at(waiter.path, of: document) == .outside)
            try waiter.start(document)
            try await letPass(.milliseconds(150))
            #expect(waiter.events == [])
            try manager.removeItem(atPath: place)
            try manager.createSymbolicLink(atPath: place, withDestinationPath: "../c")
            #expect(CopyLook.at(waiter.path, of: document) == .current)
            waiter.stop()
        }
    }

    @Test("what is newer, and is being written, is waited for until it rests")
    func changing() async throws {
        try await onLoop {
            let waiter = try Waiter()
            try waiter.start(FetchedDocument(sharedFolder: waiter.shared, size: 100, modified: Self.modified))
            try waiter.folder.write("Dear", to: "shared/a/b/Letter.txt")
            try await eventually { waiter.events.last == "grown 4" }
            try waiter.folder.write("Dear all", to: "shared/a/b/Letter.txt")
            try await eventually { waiter.events.last == "arrived" }
        }
    }

    @Test("nothing is told once it is not waited for any longer, and while nothing happens nobody looks")
    func stopped() async throws {
        try await onLoop {
            let waiter = try Waiter()
            try waiter.start(FetchedDocument(sharedFolder: waiter.shared, size: 4))
            try await letPass(.milliseconds(50))
            waiter.stop()
            try waiter.folder.write("Dear", to: "shared/a/b/Letter.txt")
            try await letPass(.milliseconds(200))
            #expect(waiter.events == [])
        }
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Foundation
import HandoffCore
import HandoffInterfaces
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("Files in shared folders, as they leave")
struct NamedFilesTests {
    private let directory: TemporaryDirectory
    private let folders: SharedFolders
    private let cloud: String

    init() throws {
        directory = try TemporaryDirectory()
        cloud = directory.path("Cloud")
        try directory.write("hello", to: "Cloud/Documents/a.txt")
        try directory.write("elsewhere", to: "Elsewhere/b.txt")
        folders = SharedFolders(chosen: [try SharedFolder("Cloud", at: cloud)])
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: directory.path(name), withDestinationPath: directory.path(target))
    }

    private func described(
        _ payload: [String: Value], looks: Bool = true, room: Int = 4096
    ) -> [String: Value] {
        var payload = payload
        let url = payload["DocumentURL"]?.string
        NamedFiles(
            folders: folders, document: looks ? url.flatMap { DocumentPlace($0, among: folders) } : nil
        )
        .describe(&payload, room: room)
        return payload
    }

    private func url(_ name: String) -> String { "file://" + directory.path(name) }

    private func isNamed(_ payload: [String: Value]) -> Bool {
        let named = try? Value.dictionary(key: "s", value: "s", [(.string("Cloud"), .string(url("Cloud")))])
        return payload["SharedFolders"] == named
    }

    @Test("a document in a shared folder is described with its folder, its size and its time")
    func document() throws {
        let payload = described(["DocumentURL": .string(url("Cloud/Documents/a.txt"))])
        #expect(isNamed(payload) && payload["DocumentSize"] == .uint64(5))
        guard case .int64(let modified)? = payload["DocumentModified"] else {
            throw CocoaError(.fileNoSuchFile)
        }
        #expect(abs(Double(modified) / 1e6 - Date.now.timeIntervalSince1970) < 60)
    }

    @Test("a document elsewhere is not")
    func elsewhere() {
        let payload = ["DocumentURL": Value.string(url("Elsewhere/b.txt"))]
        #expect(described(payload) == payload)
    }

    @Test("a document that a link names has the URL of its shared folder")
    func link() throws {
        try link("Documents", to: "Cloud/Documents")
        let payload = described(["DocumentURL": .string(url("Documents/a.txt"))])
        #expect(payload["DocumentURL"] == .string(url("Cloud/Documents/a.txt")))
        #expect(isNamed(payload) && payload["DocumentSize"] == .uint64(5))
    }

    @Test("nothing is said of a document whose other URL would make the activity too large")
    func room() throws {
        try link("D", to: "Cloud/Documents")
        let payload: [String: Value] = ["DocumentURL": .string(url("D/a.txt"))]
        #expect(described(payload, room: 13) == payload)
        #expect(isNamed(described(payload, room: 14)))
    }

    @Test("a shared folder that is a link is one")
    func linkedFolder() throws {
        try link("Link", to: "Cloud")
        let folders = SharedFolders(chosen: [try SharedFolder("Cloud", at: directory.path("Link"))])
        let place = try #require(DocumentPlace(url("Cloud/Documents/a.txt"), among: folders))
        #expect(place.path == Array(directory.path("Link/Documents/a.txt").utf8) && place.size == 5)
    }

    @Test("what a link in a shared folder leads to elsewhere is not in the folder")
    func linkOut() throws {
        try link("Cloud/out.txt", to: "Elsewhere/b.txt")
        let payload = described(["DocumentURL": .string(url("Cloud/out.txt"))])
        #expect(payload == ["DocumentURL": .string(url("Elsewhere/b.txt"))])
    }

    @Test("a document that is not there yet is where its URL says")
    func missing() {
        let payload = described(["DocumentURL": .string(url("Cloud/new.txt"))])
        #expect(isNamed(payload) && payload["DocumentSize"] == nil)
    }

    @Test("without a look in time the URL alone counts")
    func hanging() {
        let payload = described(["DocumentURL": .string(url("Cloud/Documents/a.txt"))], looks: false)
        #expect(isNamed(payload) && payload["DocumentSize"] == nil && payload["DocumentModified"] == nil)
    }

    @Test("a folder is no document, and has no size")
    func folder() {
        #expect(described(["DocumentURL": .string(url("Cloud/Documents"))])["DocumentSize"] == nil)
    }

    @Test("only the folders that tagged URLs lie in are named, wherever the URLs stand")
    func tagged() throws {
        let tagged = try Value.structure([.string("url"), .variant(.string(url("Cloud/x#y")))])
        let payload: [String: Value] = [
            "UserInfo": .properties(["a": try .array(of: "v", [.variant(tagged)])])
        ]
        let described = described(payload)
        #expect(isNamed(described) && described["UserInfo"] == payload["UserInfo"])
        for text in [url("Elsewhere/b.txt"), "https://example.com/", url("Cloud/../a")] {
            let other = try Value.structure([.string("url"), .variant(.string(text))])
            #expect(self.described(["UserInfo": .properties(["a": other])])["SharedFolders"] == nil)
        }
    }

    @Test("a UserInfo that is kept knows whether it may hold file URLs")
    func mayHold() throws {
        func holds(_ value: Value) throws -> Bool {
            try UserInfo(.properties(["a": value])).packed().mayHoldFileURLs
        }
        func tagged(_ text: String) throws -> Value {
            try .structure([.string("url"), .variant(.string(text))])
        }
        for length in 0..<9 {
            let padding = Value.string(String(repeating: "x", count: length))
            let array = try Value.array(of: "v", [.variant(padding), .variant(tagged("FILE:///a"))])
            #expect(try holds(array) && holds(tagged("file:/a")))
        }
        #expect(
            try !holds(tagged("https://example.com/")) && !holds(.string("file:///a")) && !holds(tagged("")))
        #expect(!UserInfo().mayHoldFileURLs)
    }
}

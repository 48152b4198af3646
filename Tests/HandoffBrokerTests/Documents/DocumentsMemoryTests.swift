// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@testable import HandoffBroker

@Suite("What is kept of documents")
struct DocumentsMemoryTests {
    @Test("what is known of documents outlives the broker, and nonsense in the file is left out")
    func memory() throws {
        var (documents, generator) = (KnownDocuments(), SystemRandomNumberGenerator())
        func mark(_ text: String) -> ContentMark { ContentMark(text, size: 2) }
        let (lap, desk) = (try Sample.device(1), try Sample.device(2))
        let mine = try #require(documents.id(at: "/home/me/A; [b]=c\n.txt", 5, using: &generator))
        _ = documents.sent(mine, mark("aa"), to: lap, at: 6)
        let other = DocumentID(using: &generator)
        documents.came(
            other, mark("bb"), from: desk, at: "/home/me/ä.txt", isBeside: false, isNew: true,
            isWritten: true, 7)
        documents.came(
            other, mark("dd"), from: desk, at: "/home/me/ä (2).txt", isBeside: true, isNew: true,
            isWritten: true, 7)
        _ = documents.sent(other, mark("cc"), to: lap, at: 8)
        let bytes = DocumentsMemory.encode(documents.entries)
        #expect(DocumentsMemory.decode(bytes) == documents.entries)
        for nonsense in [
            "", "[x]\nPath=/a\n", "[\(other)]\nPath=a\nUsed=1\n", "[\(other)]\nPath=/a\nUsed=x\n",
            "\u{0}[",
        ] {
            #expect(DocumentsMemory.decode(Array(nonsense.utf8)).isEmpty)
        }
        // A copy whose owner cannot be read must not become an original, nor the other way round.
        #expect(DocumentsMemory.decode(Array("[\(other)]\nPath=/a\nUsed=1\nSource=?\n".utf8)).isEmpty)
    }
}

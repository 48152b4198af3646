// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import HandoffCore

@Suite("The documents that have been handed off")
struct KnownDocumentsTests {
    private let (lap, desk, mini): (DeviceID, DeviceID, DeviceID)
    private var generator = SystemRandomNumberGenerator()

    init() throws {
        (lap, desk, mini) = (try Example.device(1), try Example.device(2), try Example.device(3))
    }

    private func mark(_ text: String) -> ContentMark { ContentMark(text, size: 1) }

    @Test("a document has one id, whoever it is sent to, and what each has of it is known")
    mutating func sent() throws {
        var documents = KnownDocuments()
        let id = try #require(documents.id(at: "/a", 1, using: &generator))
        #expect(documents.id(at: "/a", 2, using: &generator) == id)
        #expect(documents.id(at: "/b", 2, using: &generator) != id)
        _ = documents.sent(id, mark("one"), to: lap, at: 3)
        #expect(
            documents.known(id, from: lap)
                == .init(path: "/a", beside: nil, isCopy: false, bases: [mark("one")], written: nil))
        // It has gone on from there to a third device.
        #expect(documents.known(id, from: mini)?.bases == [mark("one")])
        _ = documents.sent(id, mark("two"), to: desk, at: 4)
        documents.came(
            id, mark("three"), from: lap, at: "/a", isBeside: false, isNew: true, isWritten: true, 5)
        #expect(documents.known(id, from: lap)?.bases == [mark("one"), mark("three")])
        #expect(documents.known(id, from: mini)?.bases == [], "which of them it had is not known")
        let long = "/" + String(repeating: "x", count: KnownDocuments.maximumPath)
        #expect(documents.id(at: long, 6, using: &generator) == nil)
    }

    @Test("a copy is replaced only by the device that it came from, and belongs to nobody who has not had it")
    mutating func came() {
        var documents = KnownDocuments()
        let id = DocumentID(using: &generator)
        documents.came(id, mark("one"), from: lap, at: "/a", isBeside: false, isNew: true, isWritten: true, 1)
        #expect(
            documents.known(id, from: lap)
                == .init(path: "/a", beside: nil, isCopy: true, bases: [mark("one")], written: mark("one")))
        #expect(documents.known(id, from: desk) == nil)
        #expect(documents.id(at: "/a", 2, using: &generator) == id)
        _ = documents.sent(id, mark("two"), to: lap, at: 3)
        #expect(
            documents.known(id, from: lap)?.bases == [mark("one")], "what is the user's own is not replaced")
        _ = documents.sent(id, mark("two"), to: desk, at: 3)
        #expect(documents.known(id, from: desk)?.isCopy == false)
        // What is placed beside it is the same document too.
        documents.came(
            id, mark("three"), from: lap, at: "/a (2)", isBeside: true, isNew: true, isWritten: true, 4)
        #expect(
            documents.known(id, from: lap)?.beside == .init(path: "/a (2)", mark: mark("three"), source: lap))
        #expect(documents.id(at: "/a (2)", 5, using: &generator) == id)
        // What comes at another path is the copy from then on, but not a file that was there before.
        documents.came(
            id, mark("three"), from: lap, at: "/b", isBeside: false, isNew: false, isWritten: false, 6)
        #expect(documents.known(id, from: lap)?.path == "/a")
        documents.came(
            id, mark("three"), from: lap, at: "/b", isBeside: false, isNew: true, isWritten: true, 6)
        #expect(documents.known(id, from: lap)?.path == "/b")
        #expect(documents.id(at: "/a", 7, using: &generator) != id)
        // Somebody who has not had it does not change that.
        documents.came(
            id, mark("four"), from: mini, at: "/c", isBeside: false, isNew: true, isWritten: true, 8)
        #expect(documents.known(id, from: lap)?.path == "/b" && documents.known(id, from: mini) == nil)
    }

    @Test(
        "what one device has had placed beside a document is not another one's, and a new document there takes only that"
    )
    mutating func besides() throws {
        var documents = KnownDocuments()
        let id = try #require(documents.id(at: "/a", 1, using: &generator))
        documents.came(
            id, mark("one"), from: lap, at: "/h/a (lap)", isBeside: true, isNew: true, isWritten: true, 2)
        #expect(
            documents.known(id, from: lap)?.beside != nil && documents.known(id, from: desk)?.beside == nil)
        // The user's own content there is nobody else's work.
        documents.came(
            id, mark("mine"), from: lap, at: "/h/a (lap)", isBeside: true, isNew: false, isWritten: false, 3)
        #expect(documents.known(id, from: lap)?.beside?.mark == mark("one"))
        let other = DocumentID(using: &generator)
        documents.came(
            other, mark("x"), from: lap, at: "/h/a (lap)", isBeside: false, isNew: true, isWritten: true, 4)
        #expect(documents.entries[id]?.path == "/a" && documents.entries[id]?.beside == nil)
        documents.came(
            id, mark("two"), from: lap, at: "/h/a (lap) (2)", isBeside: true, isNew: true, isWritten: true, 5)
        let hasForgotten = documents.forget(lap)
        #expect(hasForgotten && documents.entries[id]?.beside == nil)
    }

    @Test("what is sent again is nothing new, and a device that is not paired any longer leaves nothing")
    mutating func forgotten() throws {
        var documents = KnownDocuments()
        let mine = try #require(documents.id(at: "/a", 1, using: &generator))
        let times = [2, 3, 3 + KnownDocuments.maximumAge / 80]
        let areNew = times.map { documents.sent(mine, mark("one"), to: lap, at: $0) }
        #expect(areNew == [true, false, true])
        let copy = DocumentID(using: &generator)
        documents.came(
            copy, mark("two"), from: lap, at: "/b", isBeside: false, isNew: true, isWritten: true, 4)
        let hasForgotten = [documents.forget(lap), documents.forget(lap)]
        #expect(hasForgotten == [true, false])
        #expect(documents.entries[copy] == nil && documents.entries[mine]?.exchanges.isEmpty == true)
    }

    @Test(
        "what comes is where it is already, takes the place of what has nothing of the user's, or is new",
        arguments: [
            (true, "x", nil, .there(isBeside: false)), (true, "mine", "x", .there(isBeside: true)),
            (true, "came", nil, .replacing(isBeside: false)), (true, nil, nil, .new(isBeside: false)),
            (true, "mine", nil, .new(isBeside: true)), (true, "mine", "former", .replacing(isBeside: true)),
            (true, "mine", "also mine", .new(isBeside: true)), (false, "came", nil, .new(isBeside: true)),
            (false, "came", "former", .replacing(isBeside: true)), (false, nil, nil, .new(isBeside: true)),
            (false, nil, "former", .replacing(isBeside: true)), (false, "x", "x", .there(isBeside: false)),
        ] as [(Bool, String?, String?, KnownDocument.Place)])
    func places(_ isCopy: Bool, _ main: String?, _ beside: String?, _ place: KnownDocument.Place) {
        let known = KnownDocument(
            path: "/a", beside: .init(path: "/a (2)", mark: mark("former"), source: lap), isCopy: isCopy,
            bases: [mark("came")], written: nil)
        #expect(known.place(of: mark("x"), main: main.map(mark), beside: beside.map(mark)) == place)
    }

    @Test("a document at a path of another one takes its place")
    mutating func samePath() {
        var documents = KnownDocuments()
        let (one, two) = (DocumentID(using: &generator), DocumentID(using: &generator))
        documents.came(
            one, mark("one"), from: lap, at: "/a", isBeside: false, isNew: true, isWritten: true, 1)
        documents.came(
            two, mark("two"), from: desk, at: "/a", isBeside: false, isNew: true, isWritten: true, 2)
        #expect(documents.known(one, from: lap) == nil && documents.entries.count == 1)
    }

    @Test("so many are remembered, and for so long")
    mutating func limits() throws {
        var documents = KnownDocuments()
        var ids: [DocumentID] = []
        for number in 0...KnownDocuments.maximumCount {
            ids.append(try #require(documents.id(at: "/\(number)", Int64(number), using: &generator)))
        }
        #expect(documents.entries.count == KnownDocuments.maximumCount && documents.entries[ids[0]] == nil)
        for number in 0..<UInt8(100) {
            _ = documents.sent(ids[1], mark("x"), to: try Example.device(number), at: 1000)
        }
        #expect(documents.entries[ids[1]]?.exchanges.count ?? 0 <= 16)

        var later = KnownDocuments()
        let entry = try #require(documents.entries[ids[1]])
        for (age, isKept) in [
            (-1, false), (KnownDocuments.maximumAge + 1, false), (KnownDocuments.maximumAge, true),
        ] {
            later.restore(ids[1], entry, at: entry.used + age)
            #expect(later.entries[ids[1]] == (isKept ? entry : nil))
        }
        // What is newer stays.
        later.restore(DocumentID(using: &generator), entry, at: entry.used)
        #expect(later.entries.count == 1)
    }
}

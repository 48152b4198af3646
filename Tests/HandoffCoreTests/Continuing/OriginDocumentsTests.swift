// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Documents of continuations at the origin")
struct OriginDocumentsTests {
    private let id: ContinuationID
    private let other: ContinuationID
    private let device: DeviceID
    private let activity: ActivityID

    init() throws {
        (id, other) = (try Example.continuation(1), try Example.continuation(2))
        device = try Example.device(1)
        activity = try Example.activity(1)
    }

    private func fetched(document: String = "file:///a") throws -> OriginContinuations {
        var continuations = OriginContinuations()
        try continuations.fetch(activity, for: id, by: device, isOffered: true)
        continuations.sent(id, to: device, document: document)
        return continuations
    }

    @Test("the document is the one that was there when the activity was sent last")
    func latest() throws {
        var continuations = try fetched()
        #expect(try continuations.openDocument(id, of: device) == "file:///a")
        continuations.documentClosed(of: device)
        continuations.sent(id, to: device, document: "file:///b")
        #expect(try continuations.openDocument(id, of: device) == "file:///b")
        continuations.documentClosed(of: device)
        continuations.sent(id, to: device)
        #expect(code { _ = try continuations.openDocument(id, of: device) } == .notSupported)
    }

    @Test("without a continuation of one's own that was sent, there is none")
    func unknown() throws {
        var continuations = try fetched()
        #expect(code { _ = try continuations.openDocument(other, of: device) } == .unknownObject)
        let stranger = try Example.device(2)
        #expect(code { _ = try continuations.openDocument(id, of: stranger) } == .unknownObject)
        try continuations.fetch(activity, for: other, by: device, isOffered: true)
        #expect(code { _ = try continuations.openDocument(other, of: device) } == .unknownObject)
        _ = continuations.released(id, by: device)
        #expect(code { _ = try continuations.openDocument(id, of: device) } == .unknownObject)
    }

    @Test("one at a time goes to a peer, even after its continuation has ended, and others have their own")
    func oneAtATime() throws {
        var continuations = try fetched()
        try continuations.fetch(activity, for: other, by: device, isOffered: true)
        continuations.sent(other, to: device, document: "file:///b")
        _ = try continuations.openDocument(id, of: device)
        #expect(code { _ = try continuations.openDocument(other, of: device) } == .limitsExceeded)
        _ = continuations.released(id, by: device)
        #expect(code { _ = try continuations.openDocument(other, of: device) } == .limitsExceeded)
        let second = try Example.device(2)
        try continuations.fetch(activity, for: id, by: second, isOffered: true)
        continuations.sent(id, to: second, document: "file:///c")
        #expect(try continuations.openDocument(id, of: second) == "file:///c")
        continuations.documentClosed(of: device)
        #expect(try continuations.openDocument(other, of: device) == "file:///b")
    }

    @Test("while it is on its way, the continuation outlives its offer by more than five minutes")
    func lives() throws {
        var continuations = try fetched()
        continuations.offered(activity, at: .at(0))
        _ = try continuations.openDocument(id, of: device)
        continuations.offered(nil, at: .at(0))
        #expect(continuations.nextDeadline == nil)
        #expect(continuations.advance(to: .at(400_000)) == [])
        continuations.documentClosed(of: device)
        let entry = try #require(continuations.entry(id, of: device))
        #expect(continuations.advance(to: .at(400_000)) == [.ended(entry)])
    }

    @Test("a ninth continuation ends one whose document is not on its way")
    func ninth() throws {
        var continuations = try fetched()
        _ = try continuations.openDocument(id, of: device)
        for number: UInt8 in 2...8 {
            try continuations.fetch(
                activity, for: try Example.continuation(number), by: device, isOffered: true)
        }
        let second = try #require(continuations.entry(other, of: device))
        let actions = try continuations.fetch(
            activity, for: try Example.continuation(9), by: device, isOffered: true)
        #expect(actions == [.ended(second)])
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Continuing with a web page")
struct ContinuationWebPageTests {
    private let application: ApplicationID

    init() throws { application = try Example.application() }

    /// A continuation by an application that gets only the web page.
    private func continuation(isRunning: Bool = true) throws -> Continuation {
        var continuation = Continuation(
            id: try Example.continuation(1), device: try Example.device(1), offer: try Example.offer(),
            target: .application(application, isRunning: isRunning), caller: "a", getsPageAlone: true)
        _ = continuation.begin(at: .at(0))
        return continuation
    }

    private func fetched(
        mayBeClaimed: Bool, document: Continuation.Document = .none, revision: UInt64 = 1
    ) throws -> Continuation.Fetched {
        .init(
            offer: try Example.offer(streams: true, revision: revision), document: document,
            pageMayBeClaimed: mayBeClaimed)
    }

    @Test("without an application the page goes to the browser")
    func browser() throws {
        var continuation = Continuation(
            id: try Example.continuation(1), device: try Example.device(1), offer: try Example.offer(),
            target: .browser(nil), caller: "a")
        #expect(continuation.begin(at: .at(0)) == [.fetch])
        #expect(continuation.fetched(try fetched(mayBeClaimed: true), at: .at(1)) == [.openWebPage])
        #expect(
            continuation.opened(at: .at(2)) == [.finished(.continued, callers: ["a"]), .confirmContinued])
        #expect(continuation.continuedAcknowledged() == [.release])
    }

    @Test("a page that the browser opens is not kept waiting by a document that belongs to it too")
    func browserWithoutDocument() throws {
        for document in [Continuation.Document.remote, .awaited, .present] {
            var continuation = Continuation(
                id: try Example.continuation(1), device: try Example.device(1), offer: try Example.offer(),
                target: .browser(try Example.application("browser")), caller: "a")
            _ = continuation.begin(at: .at(0))
            #expect(
                continuation.fetched(try fetched(mayBeClaimed: true, document: document), at: .at(1)) == [
                    .openWebPage
                ])
        }
    }

    @Test("an application that gets the page alone is handed that, without document and streams")
    func pageAlone() throws {
        var continuation = try continuation()
        #expect(continuation.willContinueAnswered(false, at: .at(1)) == [])
        #expect(
            continuation.fetched(try fetched(mayBeClaimed: true, document: .remote), at: .at(2)) == [.deliver]
        )
        #expect(
            continuation.deliverAnswered(.handled, at: .at(3))
                == [.finished(.continued, callers: ["a"]), .confirmContinued])
        #expect(continuation.continuedAcknowledged() == [.release])
    }

    @Test("if it declines, that is the outcome: nothing else of the activity is opened")
    func declined() throws {
        var continuation = try continuation()
        _ = continuation.willContinueAnswered(false, at: .at(1))
        _ = continuation.fetched(try fetched(mayBeClaimed: true, document: .remote), at: .at(2))
        let actions = continuation.deliverAnswered(.declined, at: .at(3))
        guard case .finished(.failed(let failure), callers: ["a"]) = actions.first else {
            Issue.record("not failed: \(actions)")
            return
        }
        #expect(failure.code == .applicationFailed && actions.last == .release)
    }

    @Test(
        "an address with user info or a port goes to the browser, and who was asked is told so",
        arguments: [false, true])
    func toBrowser(isReady: Bool) throws {
        var continuation = try continuation()
        if isReady { _ = continuation.willContinueAnswered(true, at: .at(1)) }
        let actions = continuation.fetched(try fetched(mayBeClaimed: false, document: .remote), at: .at(2))
        guard case .tellApplicationFailed(let failure) = actions.first else {
            Issue.record("not told: \(actions)")
            return
        }
        #expect(failure.code == .notSupported)
        #expect(actions.dropFirst() == [.openWebPage])
        #expect(continuation.target == .browser(nil) && continuation.isRunning)
        #expect(continuation.willContinueAnswered(true, at: .at(3)) == [])
        #expect(continuation.applicationVanished() == [])
        #expect(
            continuation.opened(at: .at(4)) == [.finished(.continued, callers: ["a"]), .confirmContinued])
        #expect(continuation.continuedAcknowledged() == [.release])
    }

    @Test("an application that has only been started is not waited for then")
    func started() throws {
        var continuation = try continuation(isRunning: false)
        #expect(continuation.fetched(try fetched(mayBeClaimed: false), at: .at(2)) == [.openWebPage])
        #expect(continuation.applicationReady(at: .at(3)) == [])
        let failure = HandoffFailure(.noApplication, "none")
        #expect(
            continuation.openFailed(failure) == [.finished(.failed(failure), callers: ["a"]), .release])
    }

    @Test("an address that becomes such a one before it is delivered goes to the browser too")
    func refreshed() throws {
        var continuation = try continuation()
        continuation.offerRevised(to: 2)
        #expect(continuation.fetched(try fetched(mayBeClaimed: true), at: .at(1)) == [])
        #expect(continuation.willContinueAnswered(false, at: .at(2)) == [.fetch])
        let actions = continuation.fetched(try fetched(mayBeClaimed: false, revision: 2), at: .at(3))
        #expect(actions.count == 2 && actions.last == .openWebPage)
    }

    @Test("what is not the activity that was chosen fails, and is not opened either")
    func another() throws {
        var continuation = try continuation()
        let other = Continuation.Fetched(
            offer: try Example.offer(type: "view"), document: .none, pageMayBeClaimed: false)
        let actions = continuation.fetched(other, at: .at(1))
        #expect(actions.count == 3 && actions.last == .release)
        #expect(!continuation.isRunning)
    }

    @Test("an application that is handed the whole activity gets it with any address")
    func whole() throws {
        var continuation = Continuation(
            id: try Example.continuation(1), device: try Example.device(1), offer: try Example.offer(),
            target: .application(application, isRunning: true), caller: "a")
        _ = continuation.begin(at: .at(0))
        _ = continuation.willContinueAnswered(false, at: .at(1))
        #expect(continuation.fetched(try fetched(mayBeClaimed: false), at: .at(2)) == [.deliver])
    }
}

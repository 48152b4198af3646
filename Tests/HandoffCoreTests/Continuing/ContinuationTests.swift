// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

// This file is long because one continuation meets all of these events, and each has to be seen beside those that it must
// not disturb.

@Suite("Continuing")
struct ContinuationTests {
    private let application: ApplicationID
    private let lost = HandoffFailure(.connectionUnavailable, "lost")

    init() throws {
        application = try Example.application()
    }

    private func continuation(
        isRunning: Bool = true, offer: Offer? = nil, begin: Bool = true
    ) throws -> Continuation {
        var continuation = Continuation(
            id: try Example.continuation(1), device: try Example.device(1),
            offer: try offer ?? Example.offer(),
            target: .application(application, isRunning: isRunning), caller: "a")
        if begin { _ = continuation.begin(at: .at(0)) }
        return continuation
    }

    private func fetched(
        _ document: Continuation.Document = .none, streams: Bool = false, revision: UInt64 = 1
    ) throws -> Continuation.Fetched {
        .init(offer: try Example.offer(streams: streams, revision: revision), document: document)
    }

    /// A continuation whose `ContinueActivity` was called at 0.
    private func delivering(
        _ document: Continuation.Document = .none, streams: Bool = false
    ) throws -> Continuation {
        var continuation = try continuation()
        _ = continuation.willContinueAnswered(false, at: .at(0))
        #expect(continuation.fetched(try fetched(document, streams: streams), at: .at(0)) == [.deliver])
        return continuation
    }

    /// The actions of a failure with `code`; whether the application is told.
    private func isFailure(
        _ actions: [Continuation.Action], _ code: HandoffFailure.Code, told: Bool
    ) -> Bool {
        guard case .finished(.failed(let failure), callers: ["a"]) = actions.dropFirst(told ? 1 : 0).first
        else { return false }
        let expected: [Continuation.Action] =
            (told ? [.tellApplicationFailed(failure)] : [])
            + [.finished(.failed(failure), callers: ["a"]), .release]
        return failure.code == code && actions == expected
    }

    @Test("a running application is asked while the activity is fetched, and gets it when both are there")
    func running() throws {
        var continuation = try continuation(begin: false)
        #expect(continuation.begin(at: .at(0)) == [.fetch, .askWillContinue])
        #expect(continuation.begin(at: .at(0)) == [])
        #expect(continuation.willContinueAnswered(true, at: .at(1)) == [])
        #expect(continuation.applicationShowsProgress)
        #expect(continuation.fetched(try fetched(), at: .at(2)) == [.deliver])
        #expect(
            continuation.deliverAnswered(.handled, at: .at(3)) == [
                .finished(.continued, callers: ["a"]), .confirmContinued,
            ])
        #expect(continuation.continuedAcknowledged() == [.release])
    }

    @Test("an application that does not run is started while the activity is fetched")
    func started() throws {
        var continuation = try continuation(isRunning: false, begin: false)
        #expect(continuation.begin(at: .at(0)) == [.fetch, .startApplication(application)])
        #expect(continuation.fetched(try fetched(), at: .at(1)) == [])
        #expect(continuation.applicationReady(at: .at(29_000)) == [.askWillContinue])
        #expect(continuation.applicationReady(at: .at(29_001)) == [])
        #expect(continuation.willContinueAnswered(false, at: .at(29_010)) == [.deliver])
    }

    @Test("an application has 30 seconds to register")
    func registrationDeadline() throws {
        var continuation = try continuation(isRunning: false)
        _ = continuation.fetched(try fetched(), at: .at(1))
        #expect(continuation.nextDeadline == .at(30_000))
        #expect(continuation.advance(to: .at(29_999)) == [])
        #expect(isFailure(continuation.advance(to: .at(30_000)), .applicationTimedOut, told: false))
        #expect(continuation.applicationReady(at: .at(30_001)) == [])
    }

    @Test("an application that cannot be started is the outcome")
    func startFailed() throws {
        var continuation = try continuation(isRunning: false)
        let failure = HandoffFailure(.applicationFailed, "no such program")
        #expect(isFailure(continuation.startFailed(failure), .applicationFailed, told: false))
    }

    @Test("no answer to WillContinueActivity within a second means false, and a late one is not heard")
    func willContinueDeadline() throws {
        var continuation = try continuation()
        _ = continuation.fetched(try fetched(), at: .at(1))
        #expect(continuation.nextDeadline == .at(1000))
        #expect(continuation.advance(to: .at(1000)) == [.deliver])
        #expect(continuation.willContinueAnswered(true, at: .at(1001)) == [])
        #expect(!continuation.applicationShowsProgress)
    }

    @Test("the activity has ten seconds to come, and an application that waits is told")
    func fetchDeadline() throws {
        var continuation = try continuation()
        #expect(continuation.advance(to: .at(9999)) == [])
        #expect(isFailure(continuation.advance(to: .at(10_000)), .connectionUnavailable, told: true))
        #expect(continuation.fetched(try fetched(), at: .at(10_001)) == [])
    }

    @Test(
        "a fetch that fails for want of a link is repeated three times, with a link at once, then after a second"
    )
    func fetchRetry() throws {
        var continuation = try continuation()
        #expect(continuation.fetchFailed(lost, at: .at(1)) == [.fetch])
        for time: Int64 in [2, 1002] {
            #expect(continuation.fetchFailed(lost, at: .at(time)) == [])
            #expect(continuation.advance(to: .at(time + 999)) == [])
            #expect(continuation.advance(to: .at(time + 1000)) == [.fetch])
        }
        #expect(isFailure(continuation.fetchFailed(lost, at: .at(2003)), .connectionUnavailable, told: true))
    }

    @Test("a fetch that fails for want of a link is repeated on the next link, within the same ten seconds")
    func fetchRetryOnNewLink() throws {
        var continuation = try continuation()
        continuation.linkLost()
        #expect(continuation.fetchFailed(lost, at: .at(1)) == [])
        #expect(continuation.advance(to: .at(1000)) == [])
        var unlinked = continuation
        #expect(continuation.linkRestored(at: .at(4000)) == [.fetch])
        #expect(continuation.nextDeadline == .at(10_000))
        #expect(isFailure(unlinked.advance(to: .at(10_000)), .connectionUnavailable, told: true))
    }

    @Test("any other failure to fetch is the outcome")
    func fetchFailed() throws {
        var continuation = try continuation()
        let failure = HandoffFailure(.offerWithdrawn, "gone")
        #expect(isFailure(continuation.fetchFailed(failure, at: .at(1)), .offerWithdrawn, told: true))
    }

    @Test("what does not agree with what the user chose is not delivered")
    func disagreement() throws {
        var continuation = try continuation()
        let other = Continuation.Fetched(offer: try Example.offer(type: "view"), document: .none)
        #expect(isFailure(continuation.fetched(other, at: .at(1)), .offerWithdrawn, told: true))
    }

    @Test("an activity that has changed by the time it is delivered is fetched once more, and only once")
    func revised() throws {
        var continuation = try continuation()
        _ = continuation.fetched(try fetched(), at: .at(1))
        continuation.offerRevised(to: 2)
        #expect(continuation.willContinueAnswered(true, at: .at(2)) == [.fetch])
        continuation.offerRevised(to: 3)
        #expect(continuation.fetched(try fetched(revision: 2), at: .at(3)) == [.deliver])
        #expect(continuation.fetched?.offer.revision == 2)
    }

    @Test("a change that the fetch has brought already needs no other")
    func revisedInTime() throws {
        var continuation = try continuation()
        continuation.offerRevised(to: 2)
        _ = continuation.willContinueAnswered(true, at: .at(1))
        #expect(continuation.fetched(try fetched(revision: 2), at: .at(2)) == [.deliver])
    }

    @Test("if the second fetch fails or hangs, what the first brought is delivered")
    func refreshFails() throws {
        for hangs in [true, false] {
            var continuation = try continuation()
            _ = continuation.fetched(try fetched(), at: .at(1))
            continuation.offerRevised(to: 2)
            _ = continuation.willContinueAnswered(true, at: .at(2))
            let actions =
                hangs ? continuation.advance(to: .at(10_002)) : continuation.fetchFailed(lost, at: .at(3))
            #expect(actions == [.deliver])
        }
    }

    @Test("an offer that ends before the activity is here is the outcome, and after that is not")
    func withdrawn() throws {
        var continuation = try continuation()
        #expect(isFailure(continuation.offerWithdrawn(), .offerWithdrawn, told: true))
        var late = try self.continuation()
        _ = late.fetched(try fetched(), at: .at(1))
        #expect(late.offerWithdrawn() == [])
        #expect(late.willContinueAnswered(true, at: .at(2)) == [.deliver])
    }

    @Test("switching off ends what was not delivered")
    func disabled() throws {
        var continuation = try continuation(isRunning: false)
        #expect(isFailure(continuation.stopped(.disabled), .disabled, told: false))
        var late = try delivering()
        #expect(late.stopped(.disabled) == [])
        #expect(late.deliverAnswered(.handled, at: .at(1)).count == 2)
    }

    @Test("an application that leaves the bus is the outcome, and is told nothing")
    func vanished() throws {
        var asked = try continuation()
        #expect(isFailure(asked.applicationVanished(), .applicationFailed, told: false))
        var busy = try delivering()
        #expect(isFailure(busy.applicationVanished(), .applicationFailed, told: false))
    }

    @Test(
        "once ContinueActivity was called, an error, silence or false is the outcome, told to users only",
        arguments: [
            Continuation.Answer.failed(Example.refusal("too old.")), .failed(Example.refusal("")),
            .missing(Example.refusal("no such method")), .declined, nil,
        ])
    func answers(answer: Continuation.Answer?) throws {
        var continuation = try delivering()
        #expect(continuation.nextDeadline == .at(30_000))
        let actions =
            answer.map { continuation.deliverAnswered($0, at: .at(1)) }
            ?? continuation.advance(to: .at(30_000))
        #expect(isFailure(actions, answer == nil ? .applicationTimedOut : .applicationFailed, told: false))
        if case .finished(.failed(let failure), _) = actions.first {
            #expect(failure.message.contains(application.description) || answer == nil)
            switch answer {
            case .failed(let refusal), .missing(let refusal):
                #expect(failure.message.contains(refusal.message.prefix(7)))
            default: break
            }
            if case .missing(let refusal) = answer {
                #expect(failure.message.contains(refusal.name))
                #expect(failure.message.contains("no ContinueActivity at \(refusal.path)"))
            }
        }
    }

    @Test("a document whose activity the application declines is opened, first of all by this application")
    func declinedDocument() throws {
        var continuation = try delivering(.present, streams: true)
        #expect(continuation.deliverAnswered(.declined, at: .at(1)) == [.openDocument(by: application)])
        #expect(continuation.opened(at: .at(2)).first == .finished(.continued, callers: ["a"]))
        #expect(continuation.continuedAcknowledged() == [.release])
        var failing = try delivering(.present)
        _ = failing.deliverAnswered(.declined, at: .at(1))
        let failure = HandoffFailure(.noApplication, "none")
        #expect(isFailure(failing.openFailed(failure), .noApplication, told: false))
    }

    @Test("a document that a sandbox keeps from its application is opened instead, and the application told")
    func withheldDocument() throws {
        var continuation = try delivering(.present, streams: true)
        let actions = continuation.documentWithheld(at: .at(1))
        guard actions.count == 2, case .tellApplicationFailed(let failure) = actions[0] else {
            Issue.record("\(actions)")
            return
        }
        #expect(failure.code == .notSupported && actions[1] == .openDocument(by: nil))
        #expect(continuation.documentWithheld(at: .at(1)) == [])
        #expect(continuation.deliverAnswered(.handled, at: .at(1)) == [])
        #expect(continuation.opened(at: .at(2)).first == .finished(.continued, callers: ["a"]))
        var early = try self.continuation()
        #expect(early.documentWithheld(at: .at(1)) == [])
    }

    @Test("what changes again while a document is fetched anew is fetched again, a few times at most")
    func refreshedAgain() throws {
        var continuation = try continuation()
        _ = continuation.willContinueAnswered(true, at: .at(0))
        #expect(continuation.fetched(try fetched(.remote), at: .at(0)) == [.bringDocument])
        for revision: UInt64 in 2...4 {
            continuation.offerRevised(to: revision)
            #expect(!continuation.isFetching)
            #expect(continuation.documentArrived(at: .at(1)) == [.fetch])
            #expect(continuation.isFetching)
            #expect(
                continuation.fetched(try fetched(.remote, revision: revision), at: .at(1)) == [.bringDocument]
            )
        }
        continuation.offerRevised(to: 5)
        #expect(continuation.documentArrived(at: .at(2)) == [.deliver])
        #expect(!continuation.isFetching)
    }

    @Test("a document is brought over before the activity is delivered, for as long as bytes flow")
    func document() throws {
        var continuation = try continuation()
        _ = continuation.willContinueAnswered(true, at: .at(0))
        #expect(continuation.fetched(try fetched(.remote), at: .at(0)) == [.bringDocument])
        for second in stride(from: Int64(14), through: 140, by: 14) {
            #expect(continuation.advance(to: .at(second * 1000)) == [])
            continuation.documentProgressed(to: UInt64(second) * 10_000, of: nil, at: .at(second * 1000))
        }
        var silent = continuation
        #expect(continuation.documentArrived(at: .at(141_000)) == [.deliver])
        #expect(isFailure(silent.advance(to: .at(155_000)), .connectionUnavailable, told: true))
    }

    @Test("a document that is here whole is waited for until it is on the disk, for a minute")
    func documentOnSlowDisk() throws {
        var continuation = try continuation()
        _ = continuation.willContinueAnswered(true, at: .at(0))
        _ = continuation.fetched(try fetched(.remote), at: .at(0))
        continuation.documentProgressed(to: 99, of: 100, at: .at(1000))
        var partial = continuation
        #expect(isFailure(partial.advance(to: .at(16_000)), .connectionUnavailable, told: true))
        continuation.documentProgressed(to: 100, of: 100, at: .at(2000))
        #expect(continuation.advance(to: .at(61_999)) == [])
        var late = continuation
        #expect(continuation.documentArrived(at: .at(61_999)) == [.deliver])
        #expect(isFailure(late.advance(to: .at(62_000)), .connectionUnavailable, told: true))
    }

    @Test("a document that is not synchronised yet is awaited for a minute, then brought over")
    func awaitedDocument() throws {
        var continuation = try continuation()
        _ = continuation.willContinueAnswered(true, at: .at(0))
        #expect(continuation.fetched(try fetched(.awaited), at: .at(0)) == [.awaitDocument])
        var arrived = continuation
        var failed = continuation
        #expect(continuation.advance(to: .at(59_999)) == [])
        #expect(continuation.advance(to: .at(60_000)) == [.bringDocument])
        #expect(arrived.documentArrived(at: .at(5)) == [.deliver])
        #expect(failed.documentFailed(lost, at: .at(5)) == [.bringDocument])
        #expect(isFailure(failed.documentFailed(lost, at: .at(6)), .connectionUnavailable, told: true))
    }

    @Test(
        "a document that no application here continues is brought over and opened with what opens such documents"
    )
    func documentApplication() throws {
        var continuation = Continuation(
            id: try Example.continuation(1), device: try Example.device(1), offer: try Example.offer(),
            target: .documentApplication(try Example.application("editor")), caller: "a")
        #expect(continuation.begin(at: .at(0)) == [.fetch])
        var without = continuation
        #expect(continuation.fetched(try fetched(.remote, streams: true), at: .at(1)) == [.bringDocument])
        #expect(
            continuation.documentArrived(at: .at(2)) == [.openDocument(by: try Example.application("editor"))]
        )
        #expect(
            continuation.opened(at: .at(3)) == [.finished(.continued, callers: ["a"]), .confirmContinued])
        #expect(continuation.continuedAcknowledged() == [.release])
        #expect(isFailure(without.fetched(try fetched(.none), at: .at(1)), .offerWithdrawn, told: false))
    }

    @Test("those who join get the same outcome, once however often they joined")
    func joining() throws {
        var continuation = try delivering()
        try continuation.join("b")
        try continuation.join("b", application: application)
        try continuation.join("c")
        continuation.callerVanished("c")
        let other = try Example.application("other")
        #expect(code { try continuation.join("d", application: other) } == .invalidArguments)
        let actions = continuation.deliverAnswered(.handled, at: .at(1))
        #expect(actions.first == .finished(.continued, callers: ["a", "b"]))
        #expect(code { try continuation.join("e") } == .unknownObject)
        #expect(!continuation.isRunning && continuation.callers.isEmpty)
    }

    @Test("the origin is told on each new link until it acknowledges, for a minute")
    func confirmation() throws {
        var continuation = try delivering()
        _ = continuation.deliverAnswered(.handled, at: .at(0))
        continuation.linkLost()
        continuation.continuedFailed(at: .at(1))
        #expect(continuation.nextDeadline == .at(60_000))
        #expect(continuation.linkRestored(at: .at(5000)) == [.confirmContinued])
        continuation.continuedFailed(at: .at(5001))
        #expect(continuation.nextDeadline == .at(6001))
        #expect(continuation.advance(to: .at(6001)) == [.confirmContinued])
        var unheard = continuation
        #expect(continuation.continuedAcknowledged() == [.release])
        #expect(continuation.continuedAcknowledged() == [])
        #expect(unheard.advance(to: .at(60_000)) == [.release])
    }

    @Test("with streams the origin may forget once the application has let go and the origin was told")
    func streams() throws {
        var first = try delivering(streams: true)
        _ = first.deliverAnswered(.handled, at: .at(0))
        var second = first
        #expect(first.continuedAcknowledged() == [])
        #expect(first.nextDeadline == nil)
        #expect(first.letGo() == [.release])
        #expect(first.letGo() == [])
        #expect(second.letGo() == [])
        #expect(second.continuedAcknowledged() == [.release])
    }
}

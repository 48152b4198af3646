// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

/// What the application, the callers and the origin have seen of one continuation.
private struct Witness {
    var asked = 0
    var delivered = 0
    var toldFailed = 0
    var outcomes: [Continuation.Outcome] = []
    var callers: [String] = []
    var fetches = 0
    var confirmed = 0
    var released = 0

    mutating func see(_ actions: [Continuation.Action]) {
        for action in actions {
            #expect(released == 0, "nothing comes after the release")
            switch action {
            case .startApplication: #expect(asked == 0)
            case .askWillContinue: asked += 1
            case .fetch: fetches += 1
            case .deliver: delivered += 1
            case .tellApplicationFailed: toldFailed += 1
            case .finished(let outcome, let callers):
                outcomes.append(outcome)
                self.callers = callers
            case .confirmContinued:
                #expect(outcomes == [.continued])
                confirmed += 1
            case .release: released += 1
            case .awaitDocument, .bringDocument, .openWebPage, .openDocument(_): #expect(outcomes.isEmpty)
            }
        }
    }
}

@Suite("Continuing, whatever happens")
struct ContinuationPropertyTests {
    private func step(
        _ continuation: inout Continuation, _ generator: inout SeededGenerator, at now: Instant
    ) throws -> [Continuation.Action] {
        let failure = HandoffFailure(
            try generator.pick([.connectionUnavailable, .offerWithdrawn, .applicationFailed]), "failed")
        switch Int.random(in: 0..<29, using: &generator) {
        case 0: return continuation.begin(at: now)
        case 1..<4: return continuation.applicationReady(at: now)
        case 4: return generator.chance(20) ? continuation.startFailed(failure) : []
        case 5..<8: return continuation.willContinueAnswered(generator.chance(50), at: now)
        case 8..<11:
            let offer = try Example.offer(
                type: generator.chance(3) ? "view" : "edit", streams: generator.chance(50),
                revision: .random(in: 1...4, using: &generator))
            let document = try generator.pick([Continuation.Document.none, .present, .awaited, .remote])
            return continuation.fetched(
                .init(offer: offer, document: document, pageMayBeClaimed: generator.chance(80)), at: now)
        case 11: return generator.chance(40) ? continuation.fetchFailed(failure, at: now) : []
        case 12:
            continuation.documentProgressed(
                to: .random(in: 0...200_000, using: &generator), of: 200_000, at: now)
            return []
        case 13..<15: return continuation.documentArrived(at: now)
        case 15: return continuation.documentFailed(failure, at: now)
        case 16: continuation.offerRevised(to: .random(in: 1...5, using: &generator))
        case 17: return generator.chance(20) ? continuation.offerWithdrawn() : []
        case 18: return generator.chance(10) ? continuation.stopped(.disabled) : []
        case 19: continuation.linkLost()
        case 20: return continuation.linkRestored(at: now)
        case 21..<23:
            let answer = try generator.pick([
                Continuation.Answer.handled, .declined, .failed(Example.refusal("no")),
                .missing(Example.refusal("none")),
            ])
            return continuation.deliverAnswered(answer, at: now)
        case 23: return continuation.opened(at: now)
        case 24: return generator.chance(30) ? continuation.openFailed(failure) : []
        case 25: return continuation.continuedAcknowledged()
        case 28: return generator.chance(10) ? (try? continuation.cancel()) ?? [] : []
        case 26:
            continuation.continuedFailed(at: now)
        default: return generator.chance(20) ? continuation.letGo() : continuation.advance(to: now)
        }
        return []
    }

    private func check(_ witness: Witness, _ continuation: Continuation, vanished: Bool) {
        #expect(witness.outcomes.count == (continuation.isRunning ? 0 : 1))
        #expect(witness.asked <= 1 && witness.fetches <= 5)
        #expect(witness.delivered + witness.toldFailed <= witness.asked)
        if !continuation.isRunning, !vanished {
            #expect(witness.delivered + witness.toldFailed == witness.asked)
        }
        if continuation.isRunning {
            #expect(continuation.nextDeadline != nil)
            // Unless the page has gone to the browser instead, nobody is told before the end.
            #expect(witness.toldFailed == 0 || continuation.target == .browser(nil))
        }
        if case .failed = witness.outcomes.first { #expect(witness.confirmed == 0 && witness.released == 1) }
    }

    @Test(
        "there is one outcome, one of ContinueActivity and DidFail after WillContinue, and one release at last",
        arguments: 1...300)
    func invariants(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let target: Continuation.Target =
            generator.chance(15)
            ? try generator.pick([.browser(nil), .documentApplication(try Example.application())])
            : .application(try Example.application(), isRunning: generator.chance(50))
        var continuation = Continuation(
            id: try Example.continuation(1), device: try Example.device(1), offer: try Example.offer(),
            target: target, caller: "a", getsPageAlone: generator.chance(30))
        var witness = Witness()
        var callers = ["a"]
        var vanished = false
        var now = Instant.at(0)
        witness.see(continuation.begin(at: now))
        for number in 0..<120 {
            now = now.advanced(by: .milliseconds(Int.random(in: 0...900, using: &generator)))
            if generator.chance(5), (try? continuation.join("\(number)")) != nil {
                callers.append("\(number)")
            }
            if generator.chance(1) {
                vanished = vanished || continuation.isRunning
                witness.see(continuation.applicationVanished())
            }
            witness.see(try step(&continuation, &generator, at: now))
            check(witness, continuation, vanished: vanished)
        }
        while let deadline = continuation.nextDeadline { witness.see(continuation.advance(to: deadline)) }
        witness.see(continuation.letGo())
        check(witness, continuation, vanished: vanished)
        #expect(!continuation.isRunning && witness.released == 1)
        #expect(witness.callers == callers)
    }
}

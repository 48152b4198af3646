// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

/// A toy in place of SHA-256, without collisions among what the tests use.
private let transcript = Pairing.Transcript(
    commitment: { na in na.map { $0 ^ 0xA5 } },
    code: { na, nb in String(String(1_000_000 + Int(na[0]) * 1000 + Int(nb[0])).suffix(6)) })

private func nonce(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

/// Two devices whose calls reach each other.
private struct Dialogue {
    var i = Pairing(.initiator, nonce: nonce(1), transcript: transcript)
    var r = Pairing(.responder, nonce: nonce(2), transcript: transcript)
    var budgets = (i: PairingBudget(), r: PairingBudget())
    var stored = (i: 0, r: 0)
    var failures: (i: [String], r: [String]) = ([], [])
    var now = Instant.at(0)
    private var queue: [(fromInitiator: Bool, action: Pairing.Action)] = []

    mutating func perform(_ actions: [Pairing.Action], byInitiator: Bool) {
        queue += actions.map { (byInitiator, $0) }
    }

    /// Delivers everything that is on its way.
    mutating func settle() {
        while !queue.isEmpty {
            let (fromInitiator, action) = queue.removeFirst()
            do { try deliver(action, fromInitiator) } catch {
                perform((error as? Pairing.Refusal)?.actions ?? [], byInitiator: !fromInitiator)
            }
        }
    }

    private mutating func deliver(_ action: Pairing.Action, _ fromInitiator: Bool) throws {
        switch (action, fromInitiator) {
        case (.sendRequest, _): perform(try i.requestReceived(budget: &budgets.i, at: now), byInitiator: true)
        case (.sendCommit(let c), _):
            perform(try r.commitReceived(c, budget: &budgets.r, at: now), byInitiator: false)
        case (.answerCommit(let nb), _): perform(i.commitAnswered(nb), byInitiator: true)
        case (.sendReveal(let na), _):
            perform(try r.revealReceived(na, at: now), byInitiator: false)
            perform(i.revealAnswered(at: now), byInitiator: true)
        case (.sendConfirm, true): perform(try r.confirmReceived(), byInitiator: false)
        case (.sendConfirm, false): perform(try i.confirmReceived(), byInitiator: true)
        case (.sendCancel(let reason), true): perform(r.cancelReceived(reason), byInitiator: false)
        case (.sendCancel(let reason), false): perform(i.cancelReceived(reason), byInitiator: true)
        case (.store, true):
            stored.i += 1
            perform(i.stored(), byInitiator: true)
        case (.store, false):
            stored.r += 1
            perform(r.stored(), byInitiator: false)
        case (.fail(let reason), true): failures.i.append(reason.message)
        case (.fail(let reason), false): failures.r.append(reason.message)
        case (.changed, _): break
        }
    }
}

@Suite("Pairing")
struct PairingTests {
    @Test(
        "both users see the same six digits, and both sides store when both have said yes",
        arguments: [true, false])
    func success(initiatorFirst: Bool) throws {
        var dialogue = Dialogue()
        if initiatorFirst {
            dialogue.perform(dialogue.i.pair(at: dialogue.now), byInitiator: true)
        } else {
            dialogue.perform(dialogue.r.pair(at: dialogue.now), byInitiator: false)
        }
        dialogue.settle()
        #expect(dialogue.i.stage == .comparing && dialogue.r.stage == .comparing)
        #expect(dialogue.i.code == "001 002" && dialogue.r.code == "001 002")
        dialogue.perform(try dialogue.r.confirm(true), byInitiator: false)
        dialogue.settle()
        #expect(dialogue.stored == (0, 0) && dialogue.i.stage == .comparing && dialogue.r.stage == .confirmed)
        dialogue.perform(try dialogue.i.confirm(true), byInitiator: true)
        dialogue.settle()
        #expect(dialogue.stored == (1, 1) && dialogue.i.stage == .none && dialogue.r.stage == .none)
        #expect(dialogue.failures.i.isEmpty && dialogue.failures.r.isEmpty && dialogue.i.nextDeadline == nil)
        // One session is good for one attempt.
        let again = dialogue.i.pair(at: dialogue.now) + dialogue.r.pair(at: dialogue.now)
        #expect(again == [])
    }

    @Test("a user who says no, or cancels, ends it on both sides, and nothing is stored")
    func refusal() throws {
        for cancels in [true, false] {
            var dialogue = Dialogue()
            dialogue.perform(dialogue.i.pair(at: dialogue.now), byInitiator: true)
            dialogue.settle()
            dialogue.perform(try dialogue.i.confirm(true), byInitiator: true)
            dialogue.perform(
                cancels ? dialogue.r.cancel() : try dialogue.r.confirm(false), byInitiator: false)
            dialogue.settle()
            #expect(
                dialogue.stored == (0, 0) && dialogue.failures.i.count == 1 && dialogue.failures.r.count == 1)
            #expect(throws: HandoffFailure.self) { _ = try dialogue.i.confirm(true) }
        }
    }

    @Test("a fourth attempt within ten minutes waits for the local user")
    func budget() throws {
        var dialogue = Dialogue()
        for attempt in 1...5 {
            dialogue.i = Pairing(.initiator, nonce: nonce(1), transcript: transcript)
            dialogue.r = Pairing(.responder, nonce: nonce(2), transcript: transcript)
            dialogue.perform(dialogue.i.pair(at: dialogue.now), byInitiator: true)
            dialogue.settle()
            #expect(dialogue.r.stage == (attempt <= 3 ? .comparing : .waiting), "attempt \(attempt)")
            #expect(dialogue.r.isAsked == (attempt > 3) && !dialogue.i.isAsked, "attempt \(attempt)")
        }
        dialogue.perform(dialogue.r.pair(at: dialogue.now), byInitiator: false)
        #expect(!dialogue.r.isAsked, "the user has agreed")
        dialogue.settle()
        #expect(dialogue.r.stage == .comparing && dialogue.i.stage == .comparing)
        var budget = PairingBudget()
        let times: [Int64] = [0, 0, 0, 599_999, 600_000, 600_001]
        #expect(times.map { budget.take(at: .at($0)) } == [true, true, true, false, true, false])
        budget.succeeded()
        let later: [Int64] = [600_002, 600_003, 100_000_000, 100_000_000, 100_000_000, 100_000_000]
        #expect(later.map { budget.take(at: .at($0)) } == [true, false, true, true, true, false])
    }

    @Test("whoever has asked is not asked, whichever side begins")
    func asked() throws {
        var dialogue = Dialogue()
        for _ in 1...3 { _ = dialogue.budgets.i.take(at: dialogue.now) }
        dialogue.perform(dialogue.r.pair(at: dialogue.now), byInitiator: false)
        dialogue.settle()
        #expect(dialogue.r.stage == .waiting && !dialogue.r.isAsked)
        #expect(dialogue.i.stage == .waiting && dialogue.i.isAsked)
        dialogue.perform(dialogue.i.pair(at: dialogue.now), byInitiator: true)
        #expect(!dialogue.i.isAsked)
        dialogue.settle()
        #expect(dialogue.i.stage == .comparing && !dialogue.i.isAsked && !dialogue.r.isAsked)
    }

    @Test("after sixty seconds without agreement it is over, at each step")
    func timeout() throws {
        var waiting = Pairing(.responder, nonce: nonce(2), transcript: transcript)
        _ = waiting.pair(at: .at(0))
        #expect(waiting.nextDeadline == .at(60_000))
        let early = waiting.advance(to: .at(59_999))
        #expect(early == [])
        let actions = waiting.advance(to: .at(60_000))
        #expect(actions.contains { if case .fail = $0 { true } else { false } } && waiting.stage == .none)
        var dialogue = Dialogue()
        dialogue.perform(dialogue.i.pair(at: .at(0)), byInitiator: true)
        dialogue.settle()
        dialogue.perform(dialogue.i.advance(to: .at(60_000)), byInitiator: true)
        dialogue.settle()
        #expect(dialogue.failures.i.count == 1 && dialogue.failures.r.count == 1 && dialogue.stored == (0, 0))
    }

    @Test("a reveal that is not what was committed to, or of another length, ends it")
    func wrongReveal() throws {
        for revealed in [nonce(9), Array(nonce(1).dropLast()), []] {
            var (r, budget) = (Pairing(.responder, nonce: nonce(2), transcript: transcript), PairingBudget())
            _ = try r.commitReceived(nonce(1).map { $0 ^ 0xA5 }, budget: &budget, at: .at(0))
            #expect(throws: Pairing.Refusal.self) { _ = try r.revealReceived(revealed, at: .at(0)) }
            #expect(r.stage == .none && r.code.isEmpty)
        }
    }

    @Test("what comes out of order ends it and stores nothing, whatever it is", arguments: 1...300)
    func randomPeer(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let role = Bool.random(using: &generator) ? Pairing.Role.initiator : .responder
        var pairing = Pairing(role, nonce: nonce(1), transcript: transcript)
        var budget = PairingBudget()
        var (saidYes, peerConfirmed, stored, failed) = (false, false, 0, 0)
        var now = Instant.at(0)
        for _ in 0..<40 {
            now = now.advanced(by: .seconds(Int.random(in: 0...8, using: &generator)))
            let bytes = nonce(UInt8.random(in: 0...3, using: &generator))
            let wasComparing = pairing.stage == .comparing || pairing.stage == .confirmed
            var actions: [Pairing.Action] = []
            do {
                switch Int.random(in: 0..<14, using: &generator) {
                case 0, 1: actions = pairing.pair(at: now)
                case 2: actions = try pairing.requestReceived(budget: &budget, at: now)
                case 3, 4:
                    actions = try pairing.commitReceived(bytes.map { $0 ^ 0xA5 }, budget: &budget, at: now)
                case 5: actions = pairing.commitAnswered(bytes)
                case 6: actions = try pairing.revealReceived(bytes, at: now)
                case 7: actions = pairing.revealAnswered(at: now)
                case 8:
                    actions = try pairing.confirmReceived()
                    peerConfirmed = true
                    #expect(wasComparing)
                case 9, 10:
                    let matches = generator.chance(90)
                    actions = try pairing.confirm(matches)
                    if matches { saidYes = true }
                case 11: actions = generator.chance(10) ? pairing.cancelReceived("no") : []
                case 12: actions = pairing.advance(to: now)
                default: actions = pairing.stored(generator.chance(50) ? "disk full" : nil)
                }
            } catch let refusal as Pairing.Refusal {
                actions = refusal.actions
                #expect(pairing.stage == .none || pairing.stage == .confirmed)
            } catch {}
            for action in actions {
                if action == .store {
                    stored += 1
                    #expect(saidYes && peerConfirmed && failed == 0)
                }
                if case .fail = action { failed += 1 }
            }
            #expect(stored <= 1 && failed <= 1)
            #expect(pairing.isActive || pairing.nextDeadline == nil)
            #expect((pairing.stage == .comparing) <= !pairing.code.isEmpty)
        }
    }
}

/// Implication.
private func <= (left: Bool, right: Bool) -> Bool { !left || right }

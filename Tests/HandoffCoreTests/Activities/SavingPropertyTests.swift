// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

/// What the application and the continuations have seen of the saving of one activity.
private struct Witness {
    var waiting: Set<ContinuationID> = []
    var running: UInt64?
    var needsSave = false

    mutating func see(_ actions: [Saving.Action]) {
        for action in actions {
            switch action {
            case .needsSaveChanged(let value):
                #expect(value != needsSave)
                needsSave = value
            case .askWillSave(let attempt):
                #expect(running == nil)
                running = attempt
            case .saved(let ids):
                for id in ids { #expect(waiting.remove(id) != nil) }
            case .gaveUp(_, let ids):
                running = nil
                for id in ids { #expect(waiting.remove(id) != nil) }
            }
        }
    }
}

@Suite("Saving state, whatever happens")
struct SavingPropertyTests {
    private func step(
        _ saving: inout Saving, _ witness: inout Witness, _ generator: inout SeededGenerator, at now: Instant
    ) {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<3: witness.see(saving.setNeedsSave(generator.chance(80), at: now))
        case 3: witness.see(saving.setCurrent(generator.chance(60), at: now))
        case 4..<6:
            let id = ContinuationID(using: &generator)
            witness.waiting.insert(id)
            witness.see(saving.request(id, at: now))
        case 6..<8:
            guard let attempt = witness.running else { return }
            witness.running = nil
            let succeeds = generator.chance(70)
            witness.see(
                succeeds
                    ? saving.answered(attempt: attempt, at: now)
                    : saving.failed(attempt: attempt, message: "", at: now))
        default: witness.see(saving.advance(to: now))
        }
    }

    @Test("each continuation is answered once, and one call runs at a time", arguments: 1...60)
    func invariants(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var saving = Saving()
        var witness = Witness()
        var now = Instant.at(0)
        for _ in 0..<300 {
            now = now.advanced(by: .milliseconds(Int.random(in: 0...400, using: &generator)))
            step(&saving, &witness, &generator, at: now)
            #expect(saving.needsSave == witness.needsSave)
            #expect(witness.running.map { saving.isAwaiting(attempt: $0) } ?? true)
            #expect(witness.waiting.isEmpty || saving.nextDeadline != nil)
        }
        witness.see(saving.invalidate())
        #expect(witness.waiting.isEmpty && saving.nextDeadline == nil)
    }
}

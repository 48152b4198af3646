// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

/// What an observer who sees only the actions knows about the continuations.
private struct Witness {
    struct Key: Hashable {
        let id: ContinuationID
        let device: DeviceID
    }

    /// The continuations that are alive, and whether the delegate of each was told.
    var told: [Key: Bool] = [:]

    mutating func see(_ actions: [OriginContinuations.Action]) {
        for action in actions {
            switch action {
            case .tellWasContinued(let entry):
                #expect(told.updateValue(true, forKey: Key(id: entry.id, device: entry.device)) == false)
            case .ended(let entry), .released(let entry):
                #expect(
                    told.removeValue(forKey: Key(id: entry.id, device: entry.device)) == entry.wasContinued)
            }
        }
    }
}

@Suite("Continuations at the origin, whatever happens")
struct OriginContinuationsPropertyTests {
    private func step(
        _ continuations: inout OriginContinuations, _ witness: inout Witness,
        _ generator: inout SeededGenerator,
        at now: Instant
    ) throws {
        let id = try Example.continuation(UInt8.random(in: 0...11, using: &generator))
        let device = try Example.device(UInt8.random(in: 0...2, using: &generator))
        let activity = try Example.activity(UInt8.random(in: 0...2, using: &generator))
        switch Int.random(in: 0..<17, using: &generator) {
        case 0..<5:
            let isNew = continuations.entry(id, of: device) == nil
            let fetched = try? continuations.fetch(activity, for: id, by: device, isOffered: true)
            witness.see(fetched ?? [])
            if fetched != nil, isNew { witness.told[.init(id: id, device: device)] = false }
        case 5..<7:
            let wasSent = continuations.entry(id, of: device)?.wasSent == true
            let continued = try? continuations.continued(id, by: device)
            #expect((continued != nil) == wasSent)
            witness.see(continued ?? [])
        case 14, 15: continuations.sent(id, to: device)
        case 16:
            let entry = continuations.entry(id, of: device)
            witness.see(continuations.refused(id, to: device))
            #expect((continuations.entry(id, of: device) == nil) == (entry?.wasSent != true))
        case 7: witness.see(continuations.released(id, by: device))
        case 8: witness.see(generator.chance(30) ? continuations.activityInvalidated(activity) : [])
        case 9: continuations.linkLost(to: device, at: now)
        case 10: continuations.linkRestored(to: device)
        case 11: continuations.offered(generator.chance(50) ? activity : nil, at: now)
        default: witness.see(continuations.advance(to: now))
        }
    }

    @Test("each continuation is told at most once, ends once, and leaves nothing behind", arguments: 1...40)
    func invariants(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var continuations = OriginContinuations()
        var witness = Witness()
        var now = Instant.at(0)
        for _ in 0..<300 {
            now = now.advanced(by: .seconds(Int.random(in: 0...10, using: &generator)))
            try step(&continuations, &witness, &generator, at: now)
            for key in witness.told.keys { #expect(continuations.entry(key.id, of: key.device) != nil) }
            let counts = Dictionary(grouping: witness.told.keys, by: \.device).mapValues(\.count)
            #expect(counts.values.allSatisfy { $0 <= 8 })
            // Everything that is due is done, so that nobody is woken again and again for nothing.
            witness.see(continuations.advance(to: now))
            if let deadline = continuations.nextDeadline { #expect(deadline > now) }
        }
        for number in 0...2 {
            let activity = try Example.activity(UInt8(number))
            witness.see(continuations.activityInvalidated(activity))
        }
        #expect(witness.told.isEmpty && continuations.nextDeadline == nil)
    }
}

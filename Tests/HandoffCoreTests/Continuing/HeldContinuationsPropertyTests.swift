// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Continuations that applications hold, whatever happens")
struct HeldContinuationsPropertyTests {
    /// What an observer knows who causes the events and sees the actions.
    private struct Witness {
        /// Which connection holds which continuation.
        var holders: [ContinuationID: String] = [:]

        mutating func see(_ actions: [HeldContinuations.Action]) {
            for case .ended(let id) in actions { #expect(holders.removeValue(forKey: id) != nil) }
        }
    }

    private func step(
        _ held: inout HeldContinuations, _ witness: inout Witness, _ generator: inout SeededGenerator
    ) throws {
        let id = try Example.continuation(UInt8.random(in: 0...29, using: &generator))
        let connection = ":1.\(Int.random(in: 0...2, using: &generator))"
        switch Int.random(in: 0..<12, using: &generator) {
        case 0..<5:
            let streams = Bool.random(using: &generator)
            guard let ended = try? held.began(id, connection: connection, supportsStreams: streams) else {
                return
            }
            #expect(witness.holders.updateValue(connection, forKey: id) == nil)
            #expect(ended.count <= 1)
            witness.see(ended)
        case 5: held.fetched(id, supportsStreams: Bool.random(using: &generator))
        case 6: witness.see(held.delivered(id))
        case 7: witness.see(generator.chance(30) ? held.released(id) : [])
        case 8: witness.see(generator.chance(10) ? held.connectionVanished(connection) : [])
        case 9..<11: try? held.openStream(id)
        default: held.streamClosed(id)
        }
    }

    @Test(
        "each ends once, no application holds more than it may, and none ends with a stream open",
        arguments: 1...40)
    func invariants(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var held = HeldContinuations()
        var witness = Witness()
        for _ in 0..<500 {
            try step(&held, &witness, &generator)
            for (id, connection) in witness.holders { #expect(held[id]?.connection == connection) }
            for (connection, ids) in Dictionary(grouping: witness.holders.keys, by: { witness.holders[$0] }) {
                let streams = ids.reduce(0) { $0 + (held[$1]?.openStreams ?? 0) }
                #expect(ids.count <= 8 && streams <= 16, "\(connection ?? "")")
            }
        }
        for number in 0...2 { witness.see(held.connectionVanished(":1.\(number)")) }
        #expect(witness.holders.isEmpty)
        for number in 0...29 { #expect(held[try Example.continuation(UInt8(number))] == nil) }
    }

    @Test("room is made by one that is over, never by one with an open stream", arguments: 1...20)
    func room(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var held = HeldContinuations()
        var open: Set<ContinuationID> = []
        for number in UInt8(0)..<60 {
            let id = try Example.continuation(number)
            guard let ended = try? held.began(id, connection: ":1.1", supportsStreams: true) else { continue }
            for case .ended(let id) in ended { #expect(!open.contains(id)) }
            if Bool.random(using: &generator) { _ = held.delivered(id) }
            if generator.chance(20), (try? held.openStream(id)) != nil { open.insert(id) }
        }
    }
}

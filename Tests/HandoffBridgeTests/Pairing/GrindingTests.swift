// SPDX-License-Identifier: LGPL-2.1-or-later
import Platform
import Testing

@testable import HandoffBridge
@testable import HandoffCore

/// Somebody between two devices who ends each attempt that would not succeed before revealing anything.
///
/// Towards R it plays I, towards I it plays R. The user of I has the code on the screen, and whoever is in
/// between knows it. It remains to make R show the same code by luck, since R shows another code each time
/// that it takes part.
private struct Grinder {
    /// So few codes that guessing succeeds within a test.
    static let codes: UInt64 = 256

    let i = DeviceID(bytes: [UInt8](repeating: 1, count: 32))
    let r = DeviceID(bytes: [UInt8](repeating: 2, count: 32))
    let own = DeviceID(bytes: [UInt8](repeating: 3, count: 32))
    /// How often R has taken part.
    var attempts = 0

    /// The code of I, which whoever answers I's commitment gets to know.
    private func codeOfInitiator() throws -> String {
        let transcript = PairingTranscript.make(
            RandomBytes.make(32), client: try #require(i), server: try #require(own), codes: Self.codes)
        var machine = Pairing(.initiator, nonce: RandomBytes.make(32), transcript: transcript)
        _ = machine.pair(at: Instant(microseconds: 0))
        _ = machine.commitAnswered(RandomBytes.make(32))
        _ = machine.revealAnswered(at: Instant(microseconds: 0))
        return machine.code
    }

    /// Whether both users see the same code in the end, as often as R takes part: unasked for as long as its
    /// budget allows, and `asked` times because its user agrees.
    mutating func succeeds(asked: Int) throws -> Bool {
        let wanted = try codeOfInitiator()
        var budget = PairingBudget()
        let now = Instant(microseconds: 0)
        var asked = asked
        while true {
            let transcript = PairingTranscript.make(
                RandomBytes.make(32), client: try #require(own), server: try #require(r), codes: Self.codes)
            var machine = Pairing(.responder, nonce: RandomBytes.make(32), transcript: transcript)
            let na = RandomBytes.make(32)
            var actions = try machine.commitReceived(transcript.commitment(na), budget: &budget, at: now)
            if !actions.contains(where: \.isAnswer) {
                guard asked > 0 else { return false }
                asked -= 1
                actions = machine.pair(at: now)
            }
            attempts += 1
            guard case .answerCommit(let nb)? = actions.first(where: \.isAnswer) else { return false }
            let code = transcript.code(na, nb)
            // Whoever reveals when the codes differ is found out, so it ends the attempt instead, which is
            // spent all the same.
            guard "\(code.prefix(3)) \(code.dropFirst(3))" == wanted else {
                _ = machine.linkLost()
                continue
            }
            _ = try machine.revealReceived(na, at: now)
            return machine.code == wanted
        }
    }
}

extension Pairing.Action {
    fileprivate var isAnswer: Bool { if case .answerCommit = self { true } else { false } }
}

@Suite("Somebody between two devices that are paired")
struct GrindingTests {
    @Test(
        "has no more guesses than the budget and the user allow, each of which is one of all codes",
        arguments: [0, 1, 2])
    func grind(_ asked: Int) throws {
        let trials = 3000
        var grinder = Grinder()
        var successes = 0
        for _ in 0..<trials where try grinder.succeeds(asked: asked) { successes += 1 }
        #expect(grinder.attempts <= trials * (PairingBudget.maximum + asked))
        let miss = 1 - 1 / Double(Grinder.codes)
        var chance = 1.0
        for _ in 0..<(PairingBudget.maximum + asked) { chance *= miss }
        let expected = Double(trials) * (1 - chance)
        // The limit is five standard deviations, so one run of two million fails by chance.
        let bound = 5 * (expected * chance).squareRoot()
        #expect(abs(Double(successes) - expected) <= bound, "\(successes) successes, \(expected) expected")
    }
}

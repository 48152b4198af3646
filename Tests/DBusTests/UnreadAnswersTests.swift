// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import DBus

@Suite("What may be unread of answers")
struct UnreadAnswersTests {
    private let second: Int64 = 1_000_000

    @Test("whoever answers has read what came before the question, whoever does not is answered slowly")
    func answers() {
        var unread = UnreadAnswers()
        let half = 1 << 19
        let first = [unread.sent(half), unread.sent(half), unread.sent(3 << 20)]
        // Asked once, when it is in doubt.
        #expect(first == [false, true, false])
        let before = unread.isTooMuch(ofAll: 0)
        unread.asked(hasAnswered: true)
        // What came after the question may still be unread.
        #expect(before && unread.bytes == 3 << 20 && !unread.isTooMuch(ofAll: 0))
        _ = unread.sent(1 << 20)
        #expect(unread.isWaiting)
        unread.asked(hasAnswered: false)
        #expect(unread.isTooMuch(ofAll: 0) && !unread.isWaiting && !unread.isHopeless)
        unread.forgive(1 << 20)
        #expect(!unread.isTooMuch(ofAll: 0) && unread.forgiven == 1 << 20)
    }

    @Test("while all together leave much unread, nobody may leave much")
    func together() {
        var unread = UnreadAnswers()
        _ = unread.sent(100_000)
        #expect(!unread.isTooMuch(ofAll: 1 << 20) && unread.isTooMuch(ofAll: 100 << 20))
    }

    @Test("what all are forgiven comes slowly, and ends; who leaves or reads gives it back")
    func forgiveness() {
        var forgiveness = Forgiveness()
        var (taken, now) = (0, second)
        taken += forgiveness.take(100 << 20, at: now)
        let atOnce = taken
        now += second
        taken += forgiveness.take(100 << 20, at: now)
        #expect(atOnce == 4 << 20 && taken == atOnce + 256 << 10)
        for _ in 0..<10_000 {
            now += second
            taken += forgiveness.take(100 << 20, at: now)
        }
        #expect(taken == 256 << 20 && forgiveness.given == taken)
        forgiveness.giveBack(1 << 20)
        now += 100 * second
        #expect(forgiveness.take(100 << 20, at: now) == 1 << 20)
    }
}

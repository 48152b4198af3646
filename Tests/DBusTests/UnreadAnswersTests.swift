// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import DBus

@Suite("What may be unread of answers")
struct UnreadAnswersTests {
    private let second: Int64 = 1_000_000

    @Test("whoever answers has read what came before the question, whoever does not is answered slowly")
    func answers() {
        var unread = UnreadAnswers()
        let (half, now) = (1 << 19, second)
        let first = [unread.sent(half, at: now), unread.sent(half, at: now), unread.sent(3 << 20, at: now)]
        // Asked once, when it is in doubt.
        #expect(first == [false, true, false])
        let before = unread.isTooMuch(at: now, ofAll: 0)
        unread.asked(hasAnswered: true)
        // What came after the question may still be unread.
        let after = (unread.bytes, unread.isTooMuch(at: now, ofAll: 0))
        #expect(before && after == (3 << 20, false))
        _ = unread.sent(1 << 20, at: now)
        #expect(unread.isWaiting)
        unread.asked(hasAnswered: false)
        let left = [0, 15, 17].map { unread.isTooMuch(at: now + $0 * second, ofAll: 0) }
        #expect(left == [true, false, false])
    }

    @Test("while all together leave much unread, nobody may leave much")
    func together() {
        var unread = UnreadAnswers()
        _ = unread.sent(100_000, at: second)
        let alone = unread.isTooMuch(at: second, ofAll: 1 << 20)
        let together = unread.isTooMuch(at: second, ofAll: 100 << 20)
        #expect(!alone && together)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Several activities that are continued by one choice")
struct ContinuingAllTests {
    private let failed = ContinuingAll.State.failed(HandoffFailure(.offerWithdrawn, "It has gone."))
    private let continued = ContinuingAll.State.continued(nil, note: "")

    @Test("two are continued at a time, in order, and each has one outcome")
    func order() {
        var all = ContinuingAll(count: 4)
        #expect(all.begin() == [0, 1] && all.begin() == [])
        all.ended(1, failed)
        #expect(all.begin() == [2])
        all.ended(1, continued)
        all.ended(0, .continuing)
        #expect(all.states == [.continuing, failed, .continuing, .waiting])
        all.ended(0, continued)
        all.ended(2, continued)
        #expect(all.begin() == [3] && !all.isOver)
        all.ended(3, continued)
        #expect(all.isOver && all.done == 3 && all.failed == 1 && all.begin() == [])
    }

    @Test(
        "of those with a document of one device one is continued at a time, and the others do not wait for that"
    )
    func documents() throws {
        let (one, other) = (try Example.device(1), try Example.device(2))
        var all = ContinuingAll(count: 5, documents: [0: one, 1: one, 2: other, 3: one])
        #expect(all.begin() == [0, 2])
        all.ended(2, continued)
        #expect(all.begin() == [4])
        all.ended(4, continued)
        #expect(all.begin() == [])
        all.ended(0, continued)
        #expect(all.begin() == [1])
        all.ended(1, continued)
        #expect(all.begin() == [3])
    }

    @Test("those that have not begun never do once the choice is cancelled; the others end by themselves")
    func cancelling() {
        var all = ContinuingAll(count: 3)
        _ = all.begin()
        all.ended(0, continued)
        #expect(all.cancel() == [1] && all.begin() == [])
        #expect(all.done == 1 && all.failed == 1 && !all.isOver)
        all.ended(1, continued)
        #expect(all.isOver && all.done == 2 && all.cancel() == [])
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("What has arrived at a device that was away")
struct ArrivedSendsTests {
    @Test("is told once, and not if it had arrived before anybody knew that it waits")
    func told() {
        var sends = ArrivedSends()
        var told: [[String]] = []
        for items: [(String, Bool)] in [
            [("a", true), ("b", false)], [("a", true), ("b", false)], [("b", true), ("c", true)],
            [("b", true)], [], [("d", false)], [],
        ] {
            told.append(sends.update(items.map { ArrivedSends.Item(id: $0.0, hasArrived: $0.1) }))
        }
        #expect(told == [[], [], ["b"], [], [], [], []])
    }
}

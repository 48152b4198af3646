// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("What programs were refused last")
struct RecentRefusalsTests {
    private static func refusal(_ number: Int, _ message: String = "") -> RecentRefusals.Refusal {
        RecentRefusals.Refusal(
            time: 0, connection: ":1.\(number)", process: 0, applicationID: "", member: "M", error: "E",
            message: message)
    }

    @Test("the last of each is kept, the latest first, of the 32 that were refused last")
    func kept() {
        var refusals = RecentRefusals()
        for number in 1...40 { refusals.add(Self.refusal(number)) }
        #expect(refusals.all.map(\.connection) == (9...40).reversed().map { ":1.\($0)" })
        refusals.add(Self.refusal(20, "again"))
        #expect(refusals.all.count == 32 && refusals.all.first == Self.refusal(20, "again"))
        #expect(refusals.all.count { $0.connection == ":1.20" } == 1)
    }
}

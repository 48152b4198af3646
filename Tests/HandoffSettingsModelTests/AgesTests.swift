// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffSettingsModel
import Testing

/// How long ago things were, in words.
struct AgesTests {
    private static let second: Int64 = 1_000_000

    @Test(
        "an age is told in the largest unit of which there is one whole",
        arguments: [
            (0, "just now"), (59, "just now"), (60, "1 minute ago"), (119, "1 minute ago"),
            (120, "2 minutes ago"), (3599, "59 minutes ago"), (3600, "1 hour ago"), (7200, "2 hours ago"),
            (86_399, "23 hours ago"), (86_400, "1 day ago"), (172_800, "2 days ago"), (-5, "just now"),
        ])
    func ages(_ seconds: Int64, _ text: String) {
        let now: Int64 = 1_700_000_000 * Self.second
        #expect(Ages.ago(now - seconds * Self.second, at: now) == text)
    }

    @Test("no time has no age, and times at the ends of the range are no harm")
    func extremes() {
        #expect(Ages.ago(0, at: 5) == "")
        #expect(Ages.ago(.min, at: .max) == "just now")
        #expect(Ages.ago(.max, at: .min) == "just now")
        #expect(Ages.ago(1, at: .max) == "106751991 days ago")
    }

    @Test(
        "a connection's age has plural forms too",
        arguments: [
            (5, "Connected just now"), (60, "Connected for 1 minute"), (180, "Connected for 3 minutes"),
            (7200, "Connected for 2 hours"), (86_400, "Connected for 1 day"),
        ])
    func connections(_ seconds: Int64, _ text: String) {
        let now: Int64 = 1_700_000_000 * Self.second
        #expect(Ages.connected(now - seconds * Self.second, at: now) == text)
        #expect(Ages.connected(0, at: now) == "Connected")
    }
}

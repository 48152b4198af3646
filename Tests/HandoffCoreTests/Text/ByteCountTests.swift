// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("Numbers of bytes for people")
struct ByteCountTests {
    @Test(
        "a number has a unit that suits it, and at least three digits unless it is small",
        arguments: [
            (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (99_949, "99.9 kB"), (99_950, "100 kB"),
            (999_499, "999 kB"), (999_500, "1.0 MB"), (5_368_709_120, "5.4 GB"), (1 << 50, "1126 TB"),
            (.max, "18446744 TB"),
        ] as [(UInt64, String)])
    func text(_ bytes: UInt64, _ expected: String) {
        #expect(ByteCount.text(bytes) == expected)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
import CGio
import Glibc
import Testing

@testable import HandoffBroker

@Suite("Times as file systems keep them")
struct FileTimeTests {
    @Test(
        "whatever a file system says becomes a number of microseconds, the nearest that there is",
        arguments: [
            (0, 0, 0), (1_600_000_000, 123_456_789, 1_600_000_000_123_456), (-1, 999_999_000, -1),
            (Int.max, 0, Int64.max), (Int.min, 999_999_999, Int64.min),
            (Int.max / 1_000_000, 999_999_999, Int64.max),
            (Int.max / 1_000_000, 0, 9_223_372_036_854_000_000),
        ] as [(Int, Int, Int64)])
    func microseconds(_ seconds: Int, _ nanoseconds: Int, _ expected: Int64) {
        #expect(FileTime.microseconds(timespec(tv_sec: seconds, tv_nsec: nanoseconds)) == expected)
    }
}

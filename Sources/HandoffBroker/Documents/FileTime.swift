// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Times as file systems keep them.
enum FileTime {
    /// The time in microseconds since the Unix epoch; the nearest that there is, for one that is too far away.
    static func microseconds(_ time: timespec) -> Int64 {
        let (product, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000)
        let (sum, isTooLarge) = product.addingReportingOverflow(Int64(time.tv_nsec) / 1000)
        guard !overflow, !isTooLarge else { return time.tv_sec < 0 ? .min : .max }
        return sum
    }
}

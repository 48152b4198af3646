// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Measures the processor time of the calling thread for one account at a time.
///
/// The clock costs a system call: it is read when the account changes, and not at all while there is none.
struct TimeMeter {
    private var account: TimeAccount?
    private var begin: Int64 = 0

    /// Measures time for `new` from now on.
    /// - Returns: what the former account is to be charged, in nanoseconds.
    mutating func set(_ new: TimeAccount?) -> (account: TimeAccount, time: Int64)? {
        guard new !== account else { return nil }
        let now = Self.now
        let taken = account.map { (account: $0, time: now - begin) }
        account = new
        begin = now
        return taken
    }

    /// The processor time of this thread, in nanoseconds.
    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later

/// Somebody outside on whose behalf work is done, and to whom the processor time of the loop's thread is
/// charged for that.
///
/// Everything that runs within ``MainLoop/charge(_:_:)`` is charged, and so is every job that is enqueued on
/// the loop's thread during that, or by such a job. Work that waits for a reply is charged again once the
/// reply is there, if whoever waits says so.
@MainLoop
package final class TimeAccount {
    private let spent: @MainLoop (Int64) -> Void
    /// Whether it is charged the time that each job takes by the clock on the wall, and nothing else, which costs no system call.
    let countsJobs: Bool

    /// An account; `spent` is told of processor time, in nanoseconds, soon after it was used. It is called in
    /// the middle of whatever runs, so it should only record the time, and leave the consequences to a job.
    package convenience init(_ spent: @escaping @MainLoop (Int64) -> Void) {
        self.init(countsJobs: false, spent)
    }

    /// The same, or one that is charged for whole jobs, which is enough where one is compared with others.
    package init(countsJobs: Bool, _ spent: @escaping @MainLoop (Int64) -> Void) {
        (self.countsJobs, self.spent) = (countsJobs, spent)
    }

    func charge(_ nanoseconds: Int64) { spent(nanoseconds) }
}

extension MainLoop {
    /// The account that is charged now; nil while the work is not done for anybody outside.
    @MainLoop
    package static var account: TimeAccount? { executor.account }

    /// Runs `body`, and everything that follows from it, at the expense of `account`; nil charges nobody.
    @MainLoop
    package static func charge<Result, E: Error>(
        _ account: TimeAccount?, _ body: () throws(E) -> Result
    ) throws(E) -> Result {
        let former = executor.begin(account)
        defer { executor.end(former) }
        return try body()
    }

    /// How many jobs wait for their turn: while there are many, code that makes more of them at the request
    /// of others should wait.
    @MainLoop
    package static var waitingJobs: Int { executor.waitingJobs }
}

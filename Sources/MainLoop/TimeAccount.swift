// SPDX-License-Identifier: LGPL-2.1-or-later

/// Whom processor time of the loop's thread is counted for: somebody outside, for whose sake work is done.
///
/// What runs within ``MainLoop/charge(_:_:)``, and every job that is enqueued on the loop's thread meanwhile or by such
/// a job, is counted. What waits for a reply meanwhile is counted from the reply on where the one who waits says so.
@MainLoop
public final class TimeAccount {
    private let spent: @MainLoop (Int64) -> Void

    /// An account; `spent` is told of processor time, in nanoseconds, soon after it was taken, in the middle of
    /// whatever runs: it is to take it down, and leave what follows from it to a job.
    public init(_ spent: @escaping @MainLoop (Int64) -> Void) { self.spent = spent }

    func charge(_ nanoseconds: Int64) { spent(nanoseconds) }
}

extension MainLoop {
    /// The account that is charged now; nil while what runs is for nobody outside.
    @MainLoop
    public static var account: TimeAccount? { executor.account }

    /// Runs `body`, and all that comes of it, at the expense of `account`; nil for nobody's.
    @MainLoop
    public static func charge<Result, E: Error>(
        _ account: TimeAccount?, _ body: () throws(E) -> Result
    ) throws(E) -> Result {
        let former = executor.begin(account)
        defer { executor.end(former) }
        return try body()
    }

    /// How many jobs wait for their turn: while there are many, whoever makes more of them at others' request
    /// should wait too.
    @MainLoop
    public static var waitingJobs: Int { executor.waitingJobs }
}

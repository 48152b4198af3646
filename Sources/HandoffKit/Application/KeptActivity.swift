// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform

/// An activity that has arrived, until what becomes of it is known.
@MainActor
final class KeptActivity {
    let activity: UserActivity
    let device: ContinuationDevice
    private var result: Result<Bool, HandoffFailure>?
    private var waiter: Handover<Bool, HandoffFailure>?
    private var timer: BackendTimer?

    /// How many are kept.
    static let maximum = 8
    /// How long the broker is left without an answer: a little less than it waits.
    private static let patience = Deadline.continueActivity - .seconds(3)

    init(_ activity: UserActivity, _ device: ContinuationDevice) {
        self.activity = activity
        self.device = device
    }

    /// What has become of it. An activity that nobody has asked for in time counts as handled, since it is kept all the
    /// same: what was not lost should not be reported as lost.
    func outcome(timedBy backend: BusBackend) async throws -> Bool {
        if let result { return try result.get() }
        timer = backend.timer(after: Self.patience) { [weak self] in _ = self?.settle(.success(true)) }
        let waiter = Handover<Bool, HandoffFailure>()
        self.waiter = waiter
        return try await waiter.take()
    }

    /// It is known what has become of it; only the first time counts.
    /// - Returns: whether this was the first time.
    @discardableResult
    func settle(_ new: Result<Bool, HandoffFailure>) -> Bool {
        timer?.cancel()
        timer = nil
        guard result == nil else { return false }
        result = new
        waiter?.resume(with: new)
        waiter = nil
        return true
    }
}

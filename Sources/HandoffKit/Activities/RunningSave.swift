internal import DBus
// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import Platform

/// A save that is under way: the state from before it, what it puts together, and what becomes of it.
///
/// What it puts together counts once it is whole, or not at all. Until then ``UserActivity/userInfo`` is what it has
/// put together so far, but whatever travels meanwhile is the state from before. A save that takes too long is given up: the
/// activity has the state from before again, and goes on. Should the save come to its end later, what it has put together
/// counts from then on, unless something newer was set.
@MainActor
final class RunningSave {
    /// A state, and the keys in it that typed payloads have taken.
    struct State {
        var userInfo = UserInfo()
        var payloadKeys: Set<String> = []
    }

    /// The save on whose behalf code runs.
    @TaskLocal static var current: RunningSave?

    private weak var activity: UserActivity?
    /// What the broker knew the activity by when the save began.
    let number: ActivityKey?
    /// The state from before.
    var former: State
    /// Whether a state was put together.
    var hasNewState = false
    /// What it puts together since it was given up; nil as long as it was not.
    var draft: State?
    /// How often the state of the activity had been set when it was given up.
    var changes = 0
    var timer: BackendTimer?

    private var result: Result<[String: Value], any Error>?
    private var waiting: [Handover<Void, Never>] = []

    init(of activity: UserActivity) {
        self.activity = activity
        number = activity.number
        former = activity.state
    }

    /// Whether it is a save of `activity` that was given up.
    func isGivenUp(of activity: UserActivity) -> Bool { draft != nil && self.activity === activity }

    /// It is known what the broker is answered; only the first time counts.
    func settle(_ new: Result<[String: Value], any Error>) {
        timer?.cancel()
        guard result == nil else { return }
        result = new
        let all = waiting
        waiting = []
        for one in all { one.resume() }
    }

    /// Waits until it is over, or was given up.
    func settled() async {
        guard result == nil else { return }
        let settling = Handover<Void, Never>()
        waiting.append(settling)
        await settling.take()
    }

    /// What the broker is answered.
    func answer() async throws -> [String: Value] {
        await settled()
        return try result?.get() ?? [:]
    }
}
